"""What the magics show about memory: the live chart, the report of a session, its ledger."""
