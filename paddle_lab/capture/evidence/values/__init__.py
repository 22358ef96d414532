"""What is in tensors: numbers about their values, and digests that two runs are compared by."""
