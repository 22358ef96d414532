"""Static programs: saved programs, their records, and the files with their source lines."""
