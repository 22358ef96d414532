"""Which parameters gradients reached, where gradients ended, and what is intended."""
