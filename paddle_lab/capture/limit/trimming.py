"""Forgetting the ops that a trace does not keep, and all that only they had to do with.

Keys stay as they are: the record leaves out what is gone, and says -1 where something referred to
it. Kept beside the ops are the tensors they use and those that are alive, the calls around them,
the events between them, and the graphs of the backward calls among them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from paddle_lab.capture.evidence.collector import Forgotten
from paddle_lab.capture.limit.graphs import forget_graphs
from paddle_lab.capture.limit.kept_ops import KeptOps, is_of_kept
from paddle_lab.capture.limit.spans import Keys, Span
from paddle_lab.capture.recorder.tensors import ACTIVATION, EXTERNAL
from paddle_lab.capture.rows.cells import OP_CELLS, SCOPE_CELLS, TENSOR_CELLS, TURN_CELLS, OpCell
from paddle_lab.capture.rows.tape import Tape, cells_of, row_starts
from paddle_lab.capture.tables.op_columns import OpRows
from paddle_lab.trace.record import Record

if TYPE_CHECKING:
    from paddle_lab.capture.recorder.recorder import Recorder

_RESULT_CELLS = 2

Forgetting = Callable[[KeptOps, Forgotten], None]


def op_keys(recorder: Recorder) -> Keys:
    """Return the keys of the ops that are held, ascending."""
    cells = cells_of(recorder.ops)
    starts = row_starts(recorder.ops, OP_CELLS) - recorder.ops.start
    keys: Keys = np.sort(cells[starts[starts < len(cells)]])
    return keys


def trim(recorder: Recorder, spans: Sequence[Span], also: Forgetting | None = None) -> int:
    """Forget what lies outside of spans of ops.

    Parameters
    ----------
    spans
        The ops to keep, ascending.
    also
        Told what is forgotten.

    Returns
    -------
    int
        How many ops were forgotten.
    """
    # Read what is needed from the ops of a graph before they are trimmed.
    recorder.backward.name_dead_leaves()
    kept = KeptOps(OpRows(recorder.ops), spans)
    if not len(kept.forgotten):
        return 0
    _forget_events(recorder, kept)
    backward_calls, grad_nodes = forget_graphs(recorder, kept)
    tensors = _forget_tensors(recorder, kept)
    _forget_scopes(recorder, kept)
    _forget_attributes(recorder, kept)
    _forget_ops(recorder, kept)
    gone = Forgotten(
        *map(frozenset, (kept.forgotten.tolist(), tensors, grad_nodes, backward_calls))
    )
    recorder.backward.forget(gone.grad_nodes)
    recorder.programs.forget(gone.ops)
    for collector in recorder.collectors:
        collector.forget(gone)
    if also is not None:
        also(kept, gone)
    return len(kept.forgotten)


def mark_earlier(record: Record) -> None:
    """Let tensors whose makers are gone be external: nothing in the record made them."""
    tensors = record.tensors
    kind = tensors["kind"]
    is_earlier = (kind == ACTIVATION) & (tensors["producer"] < 0) & (tensors["detached_from"] < 0)
    kind[is_earlier] = EXTERNAL


def _forget_events(recorder: Recorder, kept: KeptOps) -> None:
    events = recorder.events.events
    keeps = kept.moments(event.op_keys for event in events)
    events[: len(keeps)] = [event for event, is_kept in zip(events, keeps, strict=False) if is_kept]


def _forget_tensors(recorder: Recorder, kept: KeptOps) -> list[int]:
    pool = recorder.tensors
    rows, end = _rows(pool.rows, TENSOR_CELLS)
    highest = np.full(len(kept.ops.keys), -1, np.int64)
    for op, _, tensor in (kept.ops.inputs, kept.ops.outputs):
        np.maximum.at(highest, op, tensor)
    others = [
        *(
            tensor
            for _, tensor in cells_of(recorder.pylayers.results).reshape(-1, _RESULT_CELLS).tolist()
        ),
        *(key for _, key in pool.living()),
        *(event.tensor for event in recorder.events.events),
        *recorder.backward.tensors(),
        *recorder.optimizers.tensors(),
    ]
    keys = rows[:, 0]
    is_kept = np.isin(keys, kept.tensors) | np.isin(keys, others)
    is_kept |= is_of_kept(keys, highest, kept.is_kept)
    _replace(pool.rows, end, rows[is_kept])
    gone: list[int] = keys[~is_kept].tolist()
    recorder.tensor_lives.forget(gone)
    return gone


def _forget_scopes(recorder: Recorder, kept: KeptOps) -> None:
    rows, end = _rows(recorder.scopes, SCOPE_CELLS)
    keys, parents = rows[:, 0], rows[:, 3]
    order = np.argsort(keys, kind="stable")
    others = [
        *(event.scope for event in recorder.events.events),
        *(call[3] for call in recorder.backward_calls),
        *(state.scope for state in recorder.threads.values()),
        *(outer for state in recorder.threads.values() for outer in state.closed_regions),
        # The calls and turns that the latest op is in may go on.
        *kept.ops.column(OpCell.SCOPE)[-1:].tolist(),
    ]
    is_kept = kept.keeps(keys, OpCell.SCOPE) | np.isin(keys, others)
    # What PyLayers ran backward, and the calls around all that is kept.
    kept_keys = set(keys[is_kept].tolist())
    forward_of = recorder.pylayers.forward_of
    needed = [forward_of[scope] for scope in kept_keys if scope in forward_of]
    is_kept |= np.isin(keys, needed)
    wanted = parents[is_kept]
    while len(wanted):
        at = order[np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)]
        fresh = np.unique(at[(keys[at] == wanted) & ~is_kept[at]])
        is_kept[fresh] = True
        wanted = parents[fresh]
    _replace(recorder.scopes, end, rows[is_kept])
    forgotten = set(keys[~is_kept].tolist())
    evaluated = cells_of(recorder.eval_scopes)
    end = len(recorder.eval_scopes)
    _replace(recorder.eval_scopes, end, evaluated[~np.isin(evaluated, keys[~is_kept])])
    turns, end = _rows(recorder.turn_rows, TURN_CELLS)
    is_kept_turn = np.isin(turns[:, 0], keys[is_kept])
    for value in turns[~is_kept_turn, 3].tolist():
        if value >= 0:
            recorder.turn_values[value] = None
    _replace(recorder.turn_rows, end, turns[is_kept_turn])
    recorder.pylayer_rules.forget(forgotten)
    recorder.pylayers.forget(forgotten)


def _forget_attributes(recorder: Recorder, kept: KeptOps) -> None:
    used = kept.ops.column(OpCell.ATTRIBUTES)
    # Beyond the highest are those of ops that are still to be written down.
    still_used = kept.column(OpCell.ATTRIBUTES).tolist()
    forgotten = set(used[~kept.is_kept].tolist()).difference(still_used, (0,))
    attributes = recorder.attributes
    for signature in [one for one, key in list(attributes.items()) if key in forgotten]:
        del attributes[signature]


def _forget_ops(recorder: Recorder, kept: KeptOps) -> None:
    results, end = _rows(recorder.pylayers.results, _RESULT_CELLS)
    _replace(recorder.pylayers.results, end, results[np.isin(results[:, 0], kept.keys)])
    ops = kept.ops
    order = np.argsort(ops.starts)  # by key they come, and threads may have written out of turn
    counts = np.diff(np.append(ops.starts[order], len(ops.cells)))
    end = recorder.ops.start + len(ops.cells)
    _replace(recorder.ops, end, ops.cells[np.repeat(kept.is_kept[order], counts)])


def _rows(tape: Tape, width: int) -> tuple[Keys, int]:
    end = len(tape)
    return cells_of(tape, tape.start, end).reshape(-1, width), end


def _replace(tape: Tape, end: int, cells: Keys) -> None:
    tape.replace(end, np.ascontiguousarray(cells).tobytes())
