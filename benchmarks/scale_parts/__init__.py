"""One part of `python -m benchmarks scale` a file."""
