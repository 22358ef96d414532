"""What a notebook stores of a trace that is too large for it: the least is left out first."""
