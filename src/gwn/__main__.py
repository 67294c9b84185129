"""`python -m gwn`."""

from gwn.cli.main import main

if __name__ == "__main__":  # worker processes import this file under another name
    main()
