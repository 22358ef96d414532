"""What is installed around Paddle's functions while a trace is open."""
