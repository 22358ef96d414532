"""The checks. Each module defines one as ``CHECK``, and explains it in its docstring.

``two_runs`` defines two, because both compare two runs of the same code.
"""
