"""Events other than ops: the hooks that note them, and their log."""
