"""The only rooms that import paddle: hooks, recorder, assembly of the record."""
