"""Which call of the user's function, and which turn of its loops, an op belongs to."""
