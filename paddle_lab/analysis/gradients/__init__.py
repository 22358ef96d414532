"""What was in the gradients of a backward pass, and how large they were over depth."""
