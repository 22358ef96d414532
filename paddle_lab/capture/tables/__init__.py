"""From what a recorder noted to the tables of the record, once the trace is over."""
