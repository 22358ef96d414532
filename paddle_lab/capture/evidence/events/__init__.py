"""Events other than ops: the hooks that note events, and the log of events."""
