"""Speed, memory and growth, always as ratios of things measured in the same run (`gwn bench`, `make bench`)."""
