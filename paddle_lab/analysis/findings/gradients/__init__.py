"""Which parameters gradients came to, where they ended on their way, and what is meant so."""
