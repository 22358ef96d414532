"""Whether a model can be exported, all that blocks it, and whether it then computes the same."""
