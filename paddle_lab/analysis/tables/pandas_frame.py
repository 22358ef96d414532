"""pandas, where it is installed."""

from __future__ import annotations

from typing import Any

from paddle_lab.words import say


def pandas_module(wanted_by: str) -> Any:
    """Return pandas.

    Raises
    ------
    ImportError
        If pandas is not installed; the sentence names what wanted it and how to install it.
    """
    try:
        import pandas
    except ImportError as error:
        raise ImportError(say("errors.pandas", wanted_by=wanted_by)) from error
    return pandas
