"""The exhibits of the paper: what each one needs, computed where it is missing."""
