"""Static programs: read from files, turned into records, with their lines in a file beside them."""
