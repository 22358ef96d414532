"""The only package that imports paddle: hooks, recorder, and what makes the record."""
