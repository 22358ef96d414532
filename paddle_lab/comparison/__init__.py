"""Two traces as one: which op of one is which op of the other, and where they first differ."""
