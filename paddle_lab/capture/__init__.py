"""The only package that imports Paddle: hooks, the recorder, and building of the record."""
