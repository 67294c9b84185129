"""Time and memory of a training step, always as ratios of things measured in the same run: `python -m benchmarks`."""
