"""``trace.table(by=…)``: what ops, layers, lines, iterations and grad nodes cost."""
