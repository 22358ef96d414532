"""NaN and Inf: the tensors that have them, their origins, their causes, and their spread."""
