"""`python -m benchmarks`."""

import typer

from benchmarks.cli import bench

typer.run(bench)
