"""From what was noted for checks to the record's columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paddle_lab.capture.frames import FrameAssembler
from paddle_lab.capture.row_keys import RecordKeys, Rows
from paddle_lab.capture.tape import cells_of
from paddle_lab.trace.table import StringPool, TableBuilder

if TYPE_CHECKING:
    from paddle_lab.capture.recorder import Recorder


def add_evidence(
    recorder: Recorder,
    builders: dict[str, TableBuilder],
    strings: StringPool,
    frames: FrameAssembler,
    keys: RecordKeys,
) -> None:
    """Fill the tables that checks read.

    Parameters
    ----------
    keys
        From the keys that were given while the trace ran to rows of the record.
    """
    for event in recorder.events.events:
        builders["events"].append(
            event.kind,
            keys.tensors.row(event.tensor),
            keys.scopes.row(event.scope),
            frames.stack(event.stack),
            keys.ops.count_before(event.op_keys),
            event.thread,
            strings[event.detail],
        )
    living = np.array(sorted(key for _, key in recorder.tensors.living()), np.int64)
    _add_known(builders["living_tensors"], keys.tensors.rows(living))
    recorder.tensor_lives.add_rows(builders["tensor_lives"], keys)
    _add_known(builders["eval_scopes"], keys.scopes.rows(cells_of(recorder.eval_scopes)))
    recorder.optimizers.add_rows(builders, strings, keys)
    for collector in recorder.collectors:
        collector.add_rows(builders, strings, keys)


def _add_known(builder: TableBuilder, rows: Rows) -> None:
    builder.append_cells(rows[rows >= 0].tolist())
