"""The hooks around Paddle's functions while a trace is open."""
