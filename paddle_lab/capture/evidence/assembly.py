"""Builds the record's tables of evidence for checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paddle_lab.capture.rows.tape import cells_of
from paddle_lab.capture.stacks.frames import FrameAssembler
from paddle_lab.capture.tables.row_keys import RecordKeys, Rows
from paddle_lab.trace.table import StringPool, TableBuilder

if TYPE_CHECKING:
    from paddle_lab.capture.recorder.recorder import Recorder


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
        Maps keys of the running trace to rows of the record.
    """
    _add_events(recorder, builders["events"], strings, frames, keys)
    _add_known(builders["living_tensors"], keys.tensors.rows(recorder.tensors.living_keys()))
    recorder.tensor_lives.add_rows(builders["tensor_lives"], keys)
    _add_known(builders["eval_scopes"], keys.scopes.rows(cells_of(recorder.eval_scopes)))
    recorder.optimizers.add_rows(builders, strings, keys)
    for collector in recorder.collectors:
        collector.add_rows(builders, strings, keys)


def _add_events(
    recorder: Recorder,
    builder: TableBuilder,
    strings: StringPool,
    frames: FrameAssembler,
    keys: RecordKeys,
) -> None:
    events = recorder.events.events
    noted = np.array([event[:-1] for event in events], np.int64).reshape(-1, 6)
    kind, tensor, scope, stack, op_keys, thread = noted.T
    rows = (
        kind,
        keys.tensors.rows(tensor),
        keys.scopes.rows(scope),
        frames.stacks(stack),
        keys.ops.counts_before(op_keys),
        thread,
        np.array(strings.codes(event.detail for event in events), np.int64),
    )
    builder.append_cells(np.stack(rows, axis=1).ravel().tolist())


def _add_known(builder: TableBuilder, rows: Rows) -> None:
    builder.append_cells(rows[rows >= 0].tolist())
