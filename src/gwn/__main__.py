"""`python -m gwn`."""

from gwn.cli.main import main

main()
