"""Tables of ops, tensors and calls: as row objects, as text and as data frames."""
