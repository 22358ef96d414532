"""Events of the traced code besides ops: the hooks that note them, and their log."""
