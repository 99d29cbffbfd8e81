"""What every k-means here shares: where to start, the sweep over the rows, the best of starts."""
