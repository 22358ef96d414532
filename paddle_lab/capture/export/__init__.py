"""Whether a model can be exported, what prevents it, and whether it then computes the same."""
