"""Finds the user's line that raised an exception: the innermost such line in the traceback."""

from __future__ import annotations

from typing import Any

from paddle_lab.capture.stacks.source_texts import Cells
from paddle_lab.holders.roots import is_user_file


def stopped_at(error: BaseException | None, cells: Cells) -> dict[str, Any]:
    """Return this line as fields of :class:`~paddle_lab.trace.record.Origin`; none without error.

    Parameters
    ----------
    error
        The exception that ended the traced code.
    cells
        Finds notebook cells by file name.
    """
    found: dict[str, Any] = {}
    traceback = None if error is None else error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        module = traceback.tb_frame.f_globals.get("__name__")
        is_ours = isinstance(module, str) and module.partition(".")[0] == "paddle_lab"
        cell = cells.number(file)
        if cell >= 0 or (not is_ours and not file.startswith("<") and is_user_file(file)):
            found = {
                "stopped_file": file,
                "stopped_line": traceback.tb_lineno,
                "stopped_cell": cell,
            }
        traceback = traceback.tb_next
    return found
