"""What a record says of backward: grad nodes, and the calls that ran them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.findings.facts.columns import Entry, Rows, rows_by
from paddle_lab.analysis.findings.facts.ops import OpFacts
from paddle_lab.analysis.findings.place import Place
from paddle_lab.trace.schema import BACKWARD_KINDS

_PADDLE_GRAD, _REMAINING = (BACKWARD_KINDS.index(kind) for kind in ("paddle.grad", "remaining"))


class BackwardFacts(OpFacts):
    """Grad nodes and backward calls by key: the rows in their tables."""

    @cached_property
    def grad_nodes(self) -> Rows:
        """The grad nodes that an op made."""
        ops = self.record.grad_nodes["op"]
        return rows_by(ops, np.arange(len(ops)), self.op_count)

    @cached_property
    def grad_node_name(self) -> Callable[[int], str]:
        """Paddle's name of a grad node: ``"PowGradNode"``."""
        return self.text_entry("grad_nodes", "name")

    @cached_property
    def op_of_node(self) -> Entry:
        """The op that made a grad node, -1 where none did."""
        return self.entry("grad_nodes", "op")

    def ops_of_nodes(self, is_node: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return for each op whether it made one of some grad nodes, shape ``[ops]``."""
        is_op = np.zeros(self.op_count, np.bool_)
        ops = self.record.grad_nodes["op"][is_node]
        is_op[ops[ops >= 0]] = True
        return is_op

    @cached_property
    def edges_out(self) -> Rows:
        """The edges on which a grad node hands gradients on, by slot."""
        return self._edges("source")

    @cached_property
    def edges_in(self) -> Rows:
        """The edges on which a grad node is given gradients."""
        return self._edges("target")

    def _edges(self, end: str) -> Rows:
        edges = self.record.grad_edges
        return rows_by(edges[end], np.arange(len(edges)), len(self.record.grad_nodes))

    @cached_property
    def edge_source(self) -> Entry:
        """The grad node that hands a gradient on over an edge."""
        return self.entry("grad_edges", "source")

    @cached_property
    def edge_target(self) -> Entry:
        """The grad node that is given a gradient over an edge."""
        return self.entry("grad_edges", "target")

    @cached_property
    def user_backward_calls(self) -> list[int]:
        """The backward calls of the user's, in order; ``remaining`` graphs are nobody's call."""
        is_users = self.record.backward_calls["kind"] != _REMAINING
        calls: list[int] = np.flatnonzero(is_users).tolist()
        return calls

    def is_paddle_grad(self, call: int) -> bool:
        """Tell whether a backward call is one of ``paddle.grad``."""
        return bool(self.record.backward_calls["kind"][call] == _PADDLE_GRAD)

    def backward_error(self, call: int) -> str:
        """Return the text of the exception that a backward call raised, ``""`` for none."""
        return self.record.text(int(self.record.backward_calls["error"][call]))

    @cached_property
    def ops_before(self) -> Entry:
        """How many ops had been recorded when a backward call began."""
        return self.entry("backward_calls", "ops_before")

    def place_of_call(self, call: int) -> Place:
        """Return the innermost line of the user's that called backward."""
        return self.place_of_stack(int(self.record.backward_calls["stack"][call]))

    @cached_property
    def nodes_of_call(self) -> Rows:
        """The grad nodes of a backward call's graph."""
        return self._of_call("backward_members", "grad_node")

    @cached_property
    def roots(self) -> Rows:
        """The grad nodes at which a backward call began."""
        return self._of_call("grad_roots", "grad_node")

    @cached_property
    def targets(self) -> dict[int, frozenset[int]]:
        """Of calls of ``paddle.grad``, the grad nodes that they were asked to bring gradients to.

        Other calls go to every leaf, and so do those of traces that do not tell.
        """
        told, nodes = self.record.grad_targets, self._of_call("grad_targets", "grad_node")
        return {
            call: frozenset(nodes(call)) - {-1}
            for call in np.unique(told["backward_call"]).tolist()
        }

    @cached_property
    def stops(self) -> Rows:
        """The tensors that a call of ``paddle.grad`` was given as ``no_grad_vars``."""
        return self._of_call("grad_stops", "tensor")

    def _of_call(self, table: str, column: str) -> Rows:
        columns, call_count = self.record.tables[table], len(self.record.backward_calls)
        return rows_by(columns["backward_call"], columns[column], call_count)

    def nodes_of_calls(self, calls: list[int]) -> npt.NDArray[np.bool_]:
        """Return for each grad node whether it is in the graph of one of some backward calls."""
        members = self.record.backward_members
        is_node = np.zeros(len(self.record.grad_nodes), np.bool_)
        is_node[members["grad_node"][np.isin(members["backward_call"], calls)]] = True
        return is_node

    @cached_property
    def reached_ops(self) -> npt.NDArray[np.bool_]:
        """Whether a backward call of the user's reached an op's grad node, shape ``[ops]``."""
        return self.ops_of_nodes(self.nodes_of_calls(self.user_backward_calls))


def with_bad_numbers(stats: Any) -> npt.NDArray[np.bool_]:
    """Return for each row of ``value_stats`` or ``grad_stats`` whether it counts a NaN or Inf."""
    is_bad: npt.NDArray[np.bool_] = (stats["nans"] > 0) | (stats["infs"] > 0)
    return is_bad
