"""One small file per source: where its files are, what they should contain, how they become a `Graph`."""
