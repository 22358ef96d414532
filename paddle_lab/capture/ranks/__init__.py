"""Records one rank of a distributed job: the collectives, the waits, and the end of the rank."""
