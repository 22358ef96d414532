"""What the times of kernels tell: how near they are to what the machine can do."""
