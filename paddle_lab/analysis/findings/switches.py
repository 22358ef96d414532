"""Checks that the user switched off for a notebook or a project."""

from __future__ import annotations

import importlib
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final

OFF: Final[set[str]] = set()
"""The kinds that ``%paddle_lab checks -x`` switched off in this process."""


def switched_off() -> set[str]:
    """Return the kinds that are off unless ``check=`` names them.

    They are listed in :data:`OFF` and in the nearest ``pyproject.toml``, in the working directory
    or above it::

        [tool.paddle-lab]
        checks-off = ["same-batch"]

    Python 3.10 cannot read TOML, so there only :data:`OFF` counts.
    """
    with suppress(OSError):
        here = Path.cwd()
        for folder in (here, *here.parents):
            path = folder / "pyproject.toml"
            if path.is_file():
                return OFF | _listed(path, path.stat().st_mtime_ns)
    return set(OFF)


@lru_cache(maxsize=4)
def _listed(path: Path, _changed_ns: int) -> frozenset[str]:
    try:
        table = importlib.import_module("tomllib").loads(path.read_text(encoding="utf-8"))
        return frozenset(table.get("tool", {}).get("paddle-lab", {}).get("checks-off", ()))
    # No ``tomllib`` (before Python 3.11), no such table, or not a list of names.
    except (ImportError, OSError, ValueError, AttributeError, TypeError):
        return frozenset()
