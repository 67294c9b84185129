"""Speed, memory and growth, always as ratios of things measured in the same run (`make bench`)."""
