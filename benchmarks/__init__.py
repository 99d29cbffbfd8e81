"""Speed and memory against peers and against ourselves; each script runs by itself."""
