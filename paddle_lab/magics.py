"""``%%paddle_trace``: thin, from arguments to the same public calls."""

from __future__ import annotations

from typing import Any


def cell_number(file: str) -> int:
    """Return the execution count of the notebook cell that has this file name, or -1."""
    from IPython import get_ipython

    shell: Any = get_ipython()  # type: ignore[no-untyped-call]
    names: dict[str, int] = getattr(getattr(shell, "compile", None), "_filename_map", {})
    return names.get(file, -1)
