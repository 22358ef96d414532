"""Everything that one open trace has seen: ops, tensors, layers, scopes and threads."""
