"""The times of kernels, compared with the shortest possible times on this machine."""
