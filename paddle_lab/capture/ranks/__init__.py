"""What one rank of a distributed job records: its collectives, where it waits, how it ends."""
