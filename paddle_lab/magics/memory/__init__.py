"""What the magics show of memory: the live chart, the session's report, and its ledger."""
