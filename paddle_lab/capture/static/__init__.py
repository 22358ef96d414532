"""Static programs in memory, which are read once they are built."""
