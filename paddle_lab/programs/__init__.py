"""Static programs: read from files, turned into records, their lines kept beside them."""
