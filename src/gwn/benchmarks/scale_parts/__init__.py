"""One part of `gwn bench scale` a file."""
