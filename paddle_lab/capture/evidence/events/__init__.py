"""Events that are not ops: the hooks that record them, and their log."""
