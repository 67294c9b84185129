"""Several processes that share one graph: its rows, their halo, and the training step."""
