"""Statistics of tensors, and digests that compare two runs."""
