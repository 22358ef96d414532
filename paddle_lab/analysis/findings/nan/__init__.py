"""NaN and Inf: which tensors have them, where and why they began, and how far they spread."""
