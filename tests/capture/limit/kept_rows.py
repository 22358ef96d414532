"""Compares a trace with a limit, row by row, with a trace of the same run without one."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import EVENT_KINDS, TENSOR_KINDS

EXTERNAL, ACTIVATION = TENSOR_KINDS.index("external"), TENSOR_KINDS.index("activation")
NOBODY = -1


class KeptRows:
    """Which rows of the whole record the rows of the limited one are.

    Parameters
    ----------
    whole, limited
        Records of two traces that were open around the same code, nested.
    aligned_at
        Position of an op that is the same in both: 0 or -1.
    """

    def __init__(self, whole: Record, limited: Record, *, aligned_at: int) -> None:
        self.whole, self.limited = whole, limited
        self.is_stopped = aligned_at == 0
        offset_ns = whole.ops["start_ns"][aligned_at] - limited.ops["start_ns"][aligned_at]
        row_of = {time: row for row, time in enumerate(whole.ops["start_ns"].tolist())}
        self.ops = [row_of[time + offset_ns] for time in limited.ops["start_ns"].tolist()]
        self.op_of = {row: at for at, row in enumerate(self.ops)}
        self.tensors: dict[int, int] = {}
        self.scopes: dict[int, int] = {}

    def check(self) -> None:
        """Compare all that can be compared."""
        self.check_ops()
        self.check_tensors()
        self.check_scopes()
        self.check_grad_nodes()
        self.check_backward_calls()
        self.check_events()

    def check_ops(self) -> None:
        """Every kept op is what it was: its cells, its stack, what it used."""
        for at, row in enumerate(self.ops):
            for column in ("name", "attributes"):
                assert self._text("ops", column, at) == self._whole_text("ops", column, row)
            for column in ("duration_ns", "phase", "is_pylayer", "raised", "thread"):
                assert self.limited.ops[column][at] == self.whole.ops[column][row]
            assert stack(self.limited, self.limited.ops["stack"][at]) == stack(
                self.whole, self.whole.ops["stack"][row]
            )
            self._same(self.scopes, self.limited.ops["scope"][at], self.whole.ops["scope"][row])
        whole_uses = uses(self.whole)
        for at, used in uses(self.limited).items():
            expected = whole_uses[self.ops[at]]
            assert [one[:2] for one in used] == [one[:2] for one in expected]
            for (_, _, tensor), (_, _, whole_tensor) in zip(used, expected, strict=True):
                self._same(self.tensors, tensor, whole_tensor)
        assert len(uses(self.limited)) == sum(row in whole_uses for row in self.ops)

    def check_tensors(self) -> None:
        """Every tensor that an op used is what it was; what was made before is data."""
        columns = ("stop_gradient", "bytes", "version")
        for tensor, row in self.tensors.items():
            for column in ("name", "dtype", "shape", "place"):
                assert self._text("tensors", column, tensor) == self._whole_text(
                    "tensors", column, row
                )
            # The layer that holds it may have been called after recording stopped.
            path = self._text("tensors", "path", tensor)
            assert path in ("", self._whole_text("tensors", "path", row))
            assert all(
                self.limited.tensors[column][tensor] == self.whole.tensors[column][row]
                for column in columns
            )
            producer, whole_producer = self._both("tensors", "producer", tensor, row)
            assert producer == self.op_of.get(whole_producer, NOBODY)
            kind, whole_kind = self._both("tensors", "kind", tensor, row)
            detached, whole_detached = self._both("tensors", "detached_from", tensor, row)
            had_origin = whole_producer >= 0 or whole_detached >= 0
            is_earlier = had_origin and producer < 0 and detached < 0 and whole_kind == ACTIVATION
            assert kind == (EXTERNAL if is_earlier else whole_kind)
            for column in ("previous", "detached_from"):
                before, whole_before = self._both("tensors", column, tensor, row)
                known = {whole: at for at, whole in self.tensors.items()}
                if before >= 0 and before in self.tensors:
                    assert self.tensors[before] == whole_before
                elif before < 0:
                    assert whole_before not in known

    def check_scopes(self) -> None:
        """Every call around a kept op is what it was, with all the calls around it."""
        for scope in list(self.scopes):
            self._check_scope(scope)

    def _check_scope(self, scope: int) -> None:
        row = self.scopes[scope]
        while scope >= 0:
            assert self._text("scopes", "name", scope) == self._whole_text("scopes", "name", row)
            assert self.limited.scopes["kind"][scope] == self.whole.scopes["kind"][row]
            layer, whole_layer = self._both("scopes", "layer", scope, row)
            assert (layer < 0) == (whole_layer < 0)
            if layer >= 0:
                assert self._text("layers", "path", layer) == self._whole_text(
                    "layers", "path", whole_layer
                )
            op, whole_op = self._both("scopes", "op", scope, row)
            assert op == self.op_of.get(whole_op, NOBODY)
            scope, row = self._both("scopes", "parent", scope, row)
        assert row < 0

    def check_grad_nodes(self) -> None:
        """Every grad node of a kept op is there, with the edges between them.

        Where recording stopped, those that a backward call before reached.
        """
        known = self._reached_nodes() if self.is_stopped else set(range(len(self.whole.grad_nodes)))
        named = {(a, op): row for row, (a, op) in enumerate(self._nodes(self.limited))}
        nodes: dict[int, int] = {}
        for row, (address, op) in enumerate(self._nodes(self.whole)):
            if op not in self.op_of or row not in known:
                continue
            at = named[address, self.op_of[op]]
            nodes[row] = at
            assert self._text("grad_nodes", "name", at) == self._whole_text(
                "grad_nodes", "name", row
            )
            self._same(
                self.scopes,
                self.limited.grad_nodes["scope"][at],
                self.whole.grad_nodes["scope"][row],
            )
        kept_edges = {edge[:3]: edge[3:] for edge in edges(self.limited)}
        for source, target, slot, *described in edges(self.whole):
            if source in nodes and target in nodes:
                assert kept_edges[nodes[source], nodes[target], slot] == tuple(described)

    def check_backward_calls(self) -> None:
        """Every backward call that began after a kept op is there."""
        whole, limited = self.whole.backward_calls, self.limited.backward_calls
        kept = self._kept_calls()
        assert len(limited) == len(kept)
        for at, row in enumerate(kept):
            for column in ("kind", "create_graph"):
                assert limited[column][at] == whole[column][row]
            assert self._text("backward_calls", "error", at) == self._whole_text(
                "backward_calls", "error", row
            )
            before = self.op_of[int(whole["ops_before"][row]) - 1] + 1
            assert limited["ops_before"][at] == before

    def check_events(self) -> None:
        """Every event between kept ops is there."""
        whole, limited = self.whole.events, self.limited.events
        kept = [
            (EVENT_KINDS[whole["kind"][row]], self._whole_text("events", "detail", row))
            for row, before in enumerate(whole["ops_before"].tolist())
            if before in self.op_of or before - 1 in self.op_of
        ]
        found = [
            (EVENT_KINDS[limited["kind"][row]], self._text("events", "detail", row))
            for row in range(len(limited))
        ]
        assert found == kept

    def _kept_calls(self) -> list[int]:
        before = self.whole.backward_calls["ops_before"].tolist()
        return [row for row, count in enumerate(before) if count - 1 in self.op_of]

    def _reached_nodes(self) -> set[int]:
        following: dict[int, list[int]] = {}
        for source, target, *_ in edges(self.whole):
            following.setdefault(source, []).append(target)
        roots = self.whole.grad_roots
        is_kept = np.isin(roots["backward_call"], self._kept_calls())
        pending = roots["grad_node"][is_kept].tolist()
        reached = set(pending)
        while pending:
            fresh = set(following.get(pending.pop(), ())) - reached
            reached |= fresh
            pending.extend(fresh)
        return reached

    def _nodes(self, record: Record) -> list[tuple[int, int]]:
        nodes = record.grad_nodes
        return list(zip(nodes["address"].tolist(), nodes["op"].tolist(), strict=True))

    def _both(self, table: str, column: str, at: int, row: int) -> tuple[int, int]:
        return (
            int(self.limited.tables[table][column][at]),
            int(self.whole.tables[table][column][row]),
        )

    def _text(self, table: str, column: str, row: int) -> str:
        return self.limited.text(int(self.limited.tables[table][column][row]))

    def _whole_text(self, table: str, column: str, row: int) -> str:
        return self.whole.text(int(self.whole.tables[table][column][row]))

    def _same(self, rows: dict[int, int], at: Any, row: Any) -> None:
        assert (at < 0) == (row < 0)
        assert rows.setdefault(int(at), int(row)) == row
        if at < 0:
            del rows[int(at)]


def stack(record: Record, key: Any) -> list[tuple[str, str, int]]:
    """Return the file, function and line of each frame of a stack, innermost first."""
    found = []
    while key >= 0:
        frame = record.stacks["frame"][key]
        frames = record.frames
        found.append(
            (
                record.text(int(frames["file"][frame])),
                record.text(int(frames["function"][frame])),
                int(frames["line"][frame]),
            )
        )
        key = record.stacks["caller"][key]
    return found


def uses(record: Record) -> dict[int, list[tuple[int, int, int]]]:
    """Return role, slot and tensor of what each op used."""
    table = record.uses
    found: dict[int, list[tuple[int, int, int]]] = {}
    columns = np.stack([table[name] for name in ("op", "role", "slot", "tensor")], axis=1)
    for op, role, slot, tensor in columns.tolist():
        found.setdefault(op, []).append((role, slot, tensor))
    return found


def edges(record: Record) -> list[tuple[Any, ...]]:
    """Return source, target, slot, dtype and shape of all edges of the backward graphs."""
    table = record.grad_edges
    return [
        (source, target, slot, record.text(dtype), record.text(shape))
        for source, target, slot, dtype, shape in zip(
            *(table[name].tolist() for name in ("source", "target", "slot", "dtype", "shape")),
            strict=True,
        )
    ]
