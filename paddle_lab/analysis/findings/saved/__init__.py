"""What grad nodes saved for backward, what changed it since, and which node raised for it."""
