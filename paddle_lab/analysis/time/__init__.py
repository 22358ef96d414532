"""Host time: of ops, layers, lines and loop iterations, and what passed outside Paddle's ops."""
