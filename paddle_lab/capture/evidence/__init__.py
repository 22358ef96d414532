"""Evidence: data that a trace records for checks, in addition to ops and graphs."""
