"""The copy of a trace that a notebook stores, where the whole trace is too large for it."""
