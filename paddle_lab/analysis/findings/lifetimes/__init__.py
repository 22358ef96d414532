"""How long tensors live: training steps, tensors that live longer, their holders and sizes."""
