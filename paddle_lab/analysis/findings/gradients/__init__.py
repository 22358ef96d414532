"""Which parameters got gradients, where gradients ended, and which cuts are intended."""
