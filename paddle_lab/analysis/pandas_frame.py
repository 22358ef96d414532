"""pandas, where it is installed."""

from __future__ import annotations

from typing import Any


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
        message = f"{wanted_by} needs pandas, which is not installed: pip install pandas"
        raise ImportError(message) from error
    return pandas
