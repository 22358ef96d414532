"""``trace.table(by=…)``: the cost of ops, layers, lines, iterations and grad nodes."""
