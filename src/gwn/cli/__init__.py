"""The `gwn` command: one thin file a command, which parses, calls one function and prints.

Commands import what they run inside their bodies: PyTorch Geometric alone takes seconds to load, and `gwn --help`
should not wait for it.
"""
