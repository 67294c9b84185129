"""How the files of each dataset become a `Graph`: readers, named in `gwn.data.catalogue`."""
