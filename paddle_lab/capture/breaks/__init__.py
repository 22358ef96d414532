"""Where ``to_static`` splits a function or runs it eagerly, and what made it compile again."""
