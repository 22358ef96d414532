"""The checks: each module is one, with its docstring, its example and its advice as ``CHECK``."""
