"""The copy of a trace that a notebook stores if the whole trace is too large."""
