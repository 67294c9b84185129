"""One new thing of every kind, each in a file of its own as CONTRIBUTING has it; `shelves` is their one line each."""
