"""The version, read by the build and by `gwn --version`."""

__version__ = "0.1.0"
