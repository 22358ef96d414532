"""Computes values of a finished trace again, from the tensors that the traced code began with."""
