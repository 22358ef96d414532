"""The checks: each module is one, with its docstring, its example and its advice as ``CHECK``.

``two_runs`` has two, since both compare what the code did when it ran once more.
"""
