"""How long tensors live: training steps, what outlives its step, who holds it, how much it is."""
