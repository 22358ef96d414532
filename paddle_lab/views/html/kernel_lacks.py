"""What the kernel's environment lacks for widgets, and what to do about it."""

from __future__ import annotations

from paddle_lab.words import say


def kernel_lacks(error: ImportError) -> str:
    """Return the sentences on an import of widgets that failed.

    Parameters
    ----------
    error
        What the import raised. What anywidget and ipywidgets import is named as its package is.
    """
    if isinstance(error, ModuleNotFoundError) and error.name:
        return say("environments.kernel_lacks", package=error.name.partition(".")[0])
    return say("environments.kernel_fails", error=f"{type(error).__name__}: {error}")
