"""What Paddle itself writes of graphs, stacks and its log to files, joined into a record."""
