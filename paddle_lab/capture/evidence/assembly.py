"""From what was noted for checks to the record's columns."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from paddle_lab.capture.frames import FrameAssembler
from paddle_lab.trace.table import StringPool, TableBuilder

if TYPE_CHECKING:
    from paddle_lab.capture.recorder import Recorder


def add_evidence(
    recorder: Recorder,
    builders: dict[str, TableBuilder],
    strings: StringPool,
    frames: FrameAssembler,
    op_keys: dict[int, int],
    ops: list[int],
) -> None:
    """Fill the tables that checks read.

    Parameters
    ----------
    op_keys
        Keys of ops while the trace ran to rows of ``ops``.
    ops
        Those keys, in ascending order.
    """
    for event in recorder.events.events:
        builders["events"].append(
            event.kind,
            event.tensor,
            event.scope,
            frames.stack(event.stack),
            bisect_left(ops, event.op_keys),
            event.thread,
            strings[event.detail],
        )
    for _, key in sorted(recorder.tensors.living(), key=lambda living: living[1]):
        builders["living_tensors"].append(key)
    recorder.tensor_lives.add_rows(builders["tensor_lives"], ops)
    builders["eval_scopes"].append_cells(recorder.eval_scopes.to_list())
    recorder.optimizers.add_rows(builders, strings)
    for collector in recorder.collectors:
        collector.add_rows(builders, strings, op_keys)
