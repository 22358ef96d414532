"""How long tensors live: training steps, tensors that outlive them, their holders and sizes."""
