"""The tables ``loops`` and ``turns``."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_lab.capture.recorder.recorder import Recorder
from paddle_lab.capture.rows.cells import TURN_CELLS
from paddle_lab.capture.rows.tape import cells_of
from paddle_lab.capture.stacks.source_texts import Cells
from paddle_lab.capture.tables.row_keys import RecordKeys
from paddle_lab.trace.schema import RECORD_TABLES
from paddle_lab.trace.table import StringPool, Table

_LONGEST_VALUE = 40


def turn_tables(
    recorder: Recorder, keys: RecordKeys, strings: StringPool, cells: Cells
) -> tuple[Table, Table]:
    """Return the tables ``loops`` (loops that ran) and ``turns`` (iterations with an op)."""
    rows = cells_of(recorder.turn_rows).reshape(-1, TURN_CELLS)
    scope = keys.scopes.rows(rows[:, 0])
    rows, scope = rows[scope >= 0], scope[scope >= 0]
    used, loop = np.unique(rows[:, 1], return_inverse=True)
    loops = [recorder.loops[key] for key in used.tolist()]
    loop_columns: dict[str, Any] = {
        "file": strings.codes([file for file, _, _ in loops]),
        "line": [line for _, line, _ in loops],
        "cell": [cells.number(file) for file, _, _ in loops],
        "words": strings.codes([words for _, _, words in loops]),
    }
    values = [_text(recorder.turn_values[at]) if at >= 0 else "" for at in rows[:, 3].tolist()]
    turn_columns: dict[str, Any] = {
        "scope": scope,
        "loop": loop,
        "number": rows[:, 2],
        "value": strings.codes(values),
    }
    return (
        Table.from_sequences(RECORD_TABLES["loops"], loop_columns),
        Table.from_sequences(RECORD_TABLES["turns"], turn_columns),
    )


def _text(value: Any) -> str:
    """Return a value as text; of several, the first ones up to the last that is known."""
    values = list(value) if type(value) is tuple else [value]
    while values[-1] is None:
        del values[-1]
    values = [f"{one:.6g}" if type(one) is float else one for one in values]
    text = ", ".join("…" if one is None else str(one) for one in values)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"
