"""What one rank of a distributed job writes down: its collectives, where it waits, how it ends."""
