"""The times of kernels, compared with the shortest times that the machine allows."""
