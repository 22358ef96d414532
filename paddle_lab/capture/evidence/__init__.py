"""Evidence that a trace records for checks, besides ops and graphs."""
