"""Host time: of ops, layers, lines and loop iterations, and the time outside of Paddle's ops."""
