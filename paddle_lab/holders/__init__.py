"""Who keeps an object alive: a search from names down to objects, by ``gc.get_referents`` alone."""
