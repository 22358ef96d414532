"""Static programs that Paddle holds in memory, read once they are built."""
