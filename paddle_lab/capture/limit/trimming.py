"""Drops the ops that a trace does not keep, and all rows that only these ops need.

Keys do not change. The record has no dropped rows, and -1 for references to them. With the kept
ops, these rows are kept: the tensors that they use, living tensors, the calls around them, the
events between them, and the graphs of the backward calls between them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_lab.capture.evidence.collector import Forgotten
from paddle_lab.capture.limit.kept_ops import KeptOps, Keys, Mask
from paddle_lab.capture.limit.step_choice import Span
from paddle_lab.capture.recorder.tensors import ACTIVATION, EXTERNAL
from paddle_lab.capture.rows.cells import (
    EDGE_CELLS,
    NODE_CELLS,
    ROOT_CELLS,
    SCOPE_CELLS,
    TENSOR_CELLS,
    TURN_CELLS,
    OpCell,
)
from paddle_lab.capture.rows.tape import Tape, cells_of
from paddle_lab.capture.tables.op_columns import OpRows
from paddle_lab.trace.record import Record

if TYPE_CHECKING:
    from paddle_lab.capture.recorder.recorder import Recorder

_RESULT_CELLS = 2

Forgetting = Callable[[KeptOps, Forgotten], None]


def trim(recorder: Recorder, spans: Sequence[Span], also: Forgetting | None = None) -> int:
    """Drop everything outside of some spans of ops.

    Parameters
    ----------
    spans
        The ops to keep, ascending.
    also
        Is called with the kept ops and the dropped keys.

    Returns
    -------
    int
        How many ops were dropped.
    """
    kept = KeptOps(OpRows(recorder.ops), spans)
    if not len(kept.forgotten):
        return 0
    events = recorder.events.events
    _keep(events, kept.is_between(event.op_keys for event in events))
    backward_calls, grad_nodes = _forget_graphs(recorder, kept)
    tensors = _forget_tensors(recorder, kept)
    _forget_scopes(recorder, kept)
    _forget_ops(recorder, kept)
    gone = Forgotten(
        *map(frozenset, (kept.forgotten.tolist(), tensors, grad_nodes, backward_calls))
    )
    recorder.backward.forget(gone)
    recorder.programs.forget(gone.ops)
    for collector in recorder.collectors:
        collector.forget(gone)
    if also is not None:
        also(kept, gone)
    return len(kept.forgotten)


def mark_earlier(record: Record) -> None:
    """Mark a tensor as external if the op that made it was dropped."""
    tensors = record.tensors
    kind = tensors["kind"]
    is_earlier = (kind == ACTIVATION) & (tensors["producer"] < 0) & (tensors["detached_from"] < 0)
    kind[is_earlier] = EXTERNAL


def _forget_graphs(recorder: Recorder, kept: KeptOps) -> tuple[list[int], list[int]]:
    """Drop backward calls, and grad nodes that cannot be reached from a kept call or op.

    Returns
    -------
    backward_calls, grad_nodes
        The keys of the dropped rows.
    """
    calls = recorder.backward_calls
    is_kept = kept.is_after(call[4] for call in calls)
    gone = [call[0] for call in compress(calls, ~is_kept)]
    _keep(calls, is_kept)
    pool = recorder.backward.grad_nodes
    nodes, edges = _rows(pool.rows, NODE_CELLS), _rows(pool.edges, EDGE_CELLS)
    roots, targets = _rows(pool.roots, ROOT_CELLS), _rows(pool.targets, ROOT_CELLS)
    is_kept_root = ~np.isin(roots[:, 0], gone)
    made = nodes[np.isin(nodes[:, 3], kept.keys), 0]
    begin = [*made.tolist(), *roots[is_kept_root, 1].tolist()]
    reached = _reached(begin, edges[:, 1], edges[:, 2])
    is_kept_node = np.isin(nodes[:, 0], reached)
    _keep_rows(pool.rows, nodes, is_kept_node)
    _keep_rows(pool.edges, edges, np.isin(edges[:, 1], reached))
    _keep_rows(pool.roots, roots, is_kept_root)
    _keep_rows(pool.targets, targets, ~np.isin(targets[:, 0], gone))
    pool.forget(nodes[~is_kept_node].tolist())
    return gone, nodes[~is_kept_node, 0].tolist()


def _forget_tensors(recorder: Recorder, kept: KeptOps) -> list[int]:
    pool = recorder.tensors
    rows = _rows(pool.rows, TENSOR_CELLS)
    keys = rows[:, 0]
    (op, _, tensor), (made_by, _, made) = kept.ops.inputs, kept.ops.outputs
    others = [
        *_rows(recorder.pylayers.results, _RESULT_CELLS)[:, 1].tolist(),
        *(key for _, key in pool.living()),
        *(event.tensor for event in recorder.events.events),
        *recorder.backward.tensors(),
        *recorder.optimizers.tensors(),
    ]
    is_kept = kept.keeps(keys, np.append(op, made_by), np.append(tensor, made))
    is_kept |= np.isin(keys, others)
    _keep_rows(pool.rows, rows, is_kept)
    gone: list[int] = keys[~is_kept].tolist()
    recorder.tensor_lives.forget(gone)
    return gone


def _forget_scopes(recorder: Recorder, kept: KeptOps) -> None:
    rows = _rows(recorder.scopes, SCOPE_CELLS)
    keys, parents = rows[:, 0], rows[:, 3]
    used = kept.ops.column(OpCell.SCOPE)
    others = [
        *(event.scope for event in recorder.events.events),
        *(call[3] for call in recorder.backward_calls),
        *(state.scope for state in recorder.threads.values()),
        *(outer for state in recorder.threads.values() for outer in state.closed_regions),
        # Calls and loop iterations around the latest op may still be running.
        *used[-1:].tolist(),
    ]
    is_kept = kept.keeps(keys, np.arange(len(used)), used) | np.isin(keys, others)
    begin = keys[is_kept].tolist()
    # Keep also the forward scope of each kept PyLayer backward, and the scopes around kept scopes.
    forward_of = recorder.pylayers.forward_of
    forwards = [forward_of[scope] for scope in begin if scope in forward_of]
    is_kept = np.isin(keys, _reached([*begin, *forwards], keys, parents))
    _keep_rows(recorder.scopes, rows, is_kept)
    gone = keys[~is_kept]
    evaluated = _rows(recorder.eval_scopes, 1)
    _keep_rows(recorder.eval_scopes, evaluated, ~np.isin(evaluated[:, 0], gone))
    turns = _rows(recorder.turn_rows, TURN_CELLS)
    is_kept_turn = np.isin(turns[:, 0], keys[is_kept])
    for value in turns[~is_kept_turn, 3].tolist():
        if value >= 0:
            recorder.turn_values[value] = None
    _keep_rows(recorder.turn_rows, turns, is_kept_turn)
    forgotten = set(gone.tolist())
    recorder.pylayer_rules.forget(forgotten)
    recorder.pylayers.forget(forgotten)


def _forget_ops(recorder: Recorder, kept: KeptOps) -> None:
    results = _rows(recorder.pylayers.results, _RESULT_CELLS)
    _keep_rows(recorder.pylayers.results, results, np.isin(results[:, 0], kept.keys))
    ops = kept.ops
    used = ops.column(OpCell.ATTRIBUTES)
    # Higher keys belong to ops that are still being recorded.
    unused = set(used[~kept.is_kept].tolist()).difference(used[kept.is_kept].tolist(), (0,))
    attributes = recorder.attributes
    for signature in [one for one, key in list(attributes.items()) if key in unused]:
        del attributes[signature]
    recorder.attribute_forms.clear()
    order = np.argsort(ops.starts)  # from key order to tape order, which threads may change
    counts = np.diff(np.append(ops.starts[order], len(ops.cells)))
    _keep_rows(recorder.ops, ops.cells, np.repeat(kept.is_kept[order], counts))


def _reached(begin: list[int], sources: Keys, targets: Keys) -> Keys:
    """Return some keys, and all keys that can be reached from them."""
    following: dict[int, list[int]] = defaultdict(list)
    for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
        following[source].append(target)
    pending, reached = list(begin), set(begin)
    while pending:
        fresh = [key for key in following[pending.pop()] if key not in reached]
        reached.update(fresh)
        pending += fresh
    return np.fromiter(reached, np.int64)


def _keep(rows: list[Any], is_kept: Iterable[bool]) -> None:
    """Drop rows of a list. Other threads may append to the list at the same time."""
    keeps = list(is_kept)
    rows[: len(keeps)] = list(compress(rows, keeps))


def _rows(tape: Tape, width: int) -> Keys:
    return cells_of(tape).reshape(-1, width)


def _keep_rows(tape: Tape, rows: Keys, is_kept: Mask) -> None:
    """Drop rows of a tape whose rows are ``rows``. Other threads may append at the same time."""
    tape.replace(tape.start + rows.size, np.ascontiguousarray(rows[is_kept]).tobytes())
