"""Graphs that stay on disk: propagation from file to file, and training from what it wrote."""
