"""Files that Paddle itself writes (graphs, stacks, its log), joined into a record."""
