"""The gradients of a backward pass: their statistics, and their size over depth."""
