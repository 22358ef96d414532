"""What happened in the traced code besides ops: hooks that note it, and the log of events."""
