"""Static programs as Paddle holds them: read once they are built."""
