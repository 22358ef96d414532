"""NaN and Inf: which tensors have them, where they began, why, and how far they spread."""
