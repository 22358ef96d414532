"""Tells whether a model can be exported, what prevents this, and whether results stay the same."""
