"""The explorer: a folder with one page on which a wave travels over a graph; everything it shows is computed first."""
