"""Forgetting the ops that a trace does not keep, and all that only they had to do with.

Keys stay as they are: the record leaves out what is gone, and says -1 where something referred to
it. Kept beside the ops are the tensors they use and those that are alive, the calls around them,
the events between them, and the graphs of the backward calls among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from paddle_lab.capture.evidence.collector import Forgotten
from paddle_lab.capture.limit.graphs import forget_graphs
from paddle_lab.capture.limit.spans import Keys, Mask, Span, is_between, is_inside, is_of_kept
from paddle_lab.capture.rows.cells import OP_CELLS, SCOPE_CELLS, TENSOR_CELLS, TURN_CELLS, OpCell
from paddle_lab.capture.rows.tape import Tape, cells_of, row_starts
from paddle_lab.capture.tables.op_columns import OpRows

if TYPE_CHECKING:
    from paddle_lab.capture.recorder.recorder import Recorder

_RESULT_CELLS = 2


class KeptOps:
    """Which ops are kept, and what follows for what they used and what happened between them.

    Parameters
    ----------
    ops
        All ops that are held.
    spans
        The ops to keep, ascending.
    """

    def __init__(self, ops: OpRows, spans: Sequence[Span]) -> None:
        self.ops = ops
        self._spans = spans
        self.is_kept = is_inside(ops.keys, spans)

    @cached_property
    def keys(self) -> Keys:
        """The ops that are kept."""
        return self.ops.keys[self.is_kept]

    @cached_property
    def forgotten(self) -> Keys:
        """Those that are not."""
        return self.ops.keys[~self.is_kept]

    def moments(self, op_counts: Iterable[int]) -> Mask:
        """Tell which moments lie between kept ops, by how many ops had a key."""
        return is_between(np.fromiter(op_counts, np.int64), self._spans)

    def backward_calls(self, op_counts: Iterable[int]) -> Mask:
        """Tell which backward calls began after a kept op, by how many ops had a key."""
        return is_inside(np.maximum(np.fromiter(op_counts, np.int64) - 1, 0), self._spans)

    def column(self, number: int) -> Keys:
        """Return one of the cells that every op has, of the kept ones."""
        return self.ops.column(number)[self.is_kept]

    def keeps(self, keys: Keys, column: int) -> Mask:
        """Tell which keys belong to kept ops: used by one, or given while they ran.

        Parameters
        ----------
        column
            The cell in which ops have such a key.
        """
        is_used = np.isin(keys, self.column(column))
        found: Mask = is_used | is_of_kept(keys, self.ops.column(column), self.is_kept)
        return found

    @cached_property
    def tensors(self) -> Keys:
        """The tensors that kept ops read and made, in any order."""
        parts = []
        for op, _, tensor in (self.ops.inputs, self.ops.outputs):
            parts.append(tensor[self.is_kept[op]])
        found: Keys = np.unique(np.concatenate(parts))
        return found

    def has_time(self, times_ns: Iterable[int]) -> Mask:
        """Tell which moments lie between kept ops, by ``perf_counter_ns``."""
        starts_ns = self.ops.column(OpCell.START)
        return is_of_kept(np.fromiter(times_ns, np.int64), starts_ns, self.is_kept)


def op_keys(recorder: Recorder) -> Keys:
    """Return the keys of the ops that are held, ascending."""
    cells = cells_of(recorder.ops)
    starts = row_starts(recorder.ops, OP_CELLS) - recorder.ops.start
    keys: Keys = np.sort(cells[starts[starts < len(cells)]])
    return keys


def trim(recorder: Recorder, spans: Sequence[Span]) -> int:
    """Forget what lies outside of spans of ops.

    Parameters
    ----------
    spans
        The ops to keep, ascending.

    Returns
    -------
    int
        How many ops were forgotten.
    """
    # What ops tell of graphs is asked now, while they are there.
    recorder.backward.name_dead_leaves()
    kept = KeptOps(OpRows(recorder), spans)
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
    if recorder.forgetting is not None:
        recorder.forgetting(kept, gone)
    return len(kept.forgotten)


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
        *(tensor for _, tensor in cells_of(recorder.results).reshape(-1, _RESULT_CELLS).tolist()),
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
    needed = [recorder.backward_of[scope] for scope in kept_keys if scope in recorder.backward_of]
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
    for of_scope in (recorder.scope_ops, recorder.backward_of):
        for scope in forgotten.intersection(of_scope):
            del of_scope[scope]
    turns, end = _rows(recorder.turn_rows, TURN_CELLS)
    is_kept_turn = np.isin(turns[:, 0], keys[is_kept])
    for value in turns[~is_kept_turn, 3].tolist():
        if value >= 0:
            recorder.turn_values[value] = None
    _replace(recorder.turn_rows, end, turns[is_kept_turn])
    recorder.pylayer_rules.forget(forgotten)
    recorder.forget_contexts()


def _forget_attributes(recorder: Recorder, kept: KeptOps) -> None:
    used = kept.ops.column(OpCell.ATTRIBUTES)
    # Beyond the highest are those of ops that are still to be written down.
    still_used = kept.column(OpCell.ATTRIBUTES).tolist()
    forgotten = set(used[~kept.is_kept].tolist()).difference(still_used, (0,))
    attributes = recorder.attributes
    for signature in [one for one, key in list(attributes.items()) if key in forgotten]:
        del attributes[signature]


def _forget_ops(recorder: Recorder, kept: KeptOps) -> None:
    results, end = _rows(recorder.results, _RESULT_CELLS)
    _replace(recorder.results, end, results[np.isin(results[:, 0], kept.keys)])
    ops = kept.ops
    ends = np.append(ops.starts, len(ops.cells))
    if np.any(ends[1:] < ends[:-1]):  # threads wrote out of turn
        order = np.argsort(ops.starts)
        is_kept, starts = kept.is_kept[order], ops.starts[order]
    else:
        is_kept, starts = kept.is_kept, ops.starts
    counts = np.diff(np.append(starts, len(ops.cells)))
    end = recorder.ops.start + len(ops.cells)
    _replace(recorder.ops, end, ops.cells[np.repeat(is_kept, counts)])


def _rows(tape: Tape, width: int) -> tuple[Keys, int]:
    end = len(tape)
    return cells_of(tape, tape.start, end).reshape(-1, width), end


def _replace(tape: Tape, end: int, cells: Keys) -> None:
    tape.replace(end, np.ascontiguousarray(cells).tobytes())
