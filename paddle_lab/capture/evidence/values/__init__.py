"""Statistics of tensors, and digests for the comparison of two runs."""
