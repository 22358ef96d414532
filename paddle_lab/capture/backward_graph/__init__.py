"""The backward graph: which grad nodes there are, and which op made each."""
