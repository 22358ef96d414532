"""What to do about too much memory: after an error, at a peak, and about leaks."""
