"""The holders of an object: a search from names to objects, only by ``gc.get_referents``."""
