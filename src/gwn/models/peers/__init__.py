"""The models the wave networks are compared with, one a file, PyTorch Geometric's layers wherever it has them."""
