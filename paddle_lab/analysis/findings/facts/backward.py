"""Facts about backward: grad nodes, and the backward calls that ran them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from paddle_lab.analysis.findings.facts.ops import Mask, column, rows, text_column
from paddle_lab.analysis.findings.facts.tensors import TensorFacts
from paddle_lab.analysis.findings.finding import Place
from paddle_lab.trace.schema import BACKWARD_KINDS

_PADDLE_GRAD, _REMAINING = (BACKWARD_KINDS.index(kind) for kind in ("paddle.grad", "remaining"))


class BackwardFacts(TensorFacts):
    """Grad nodes and backward calls by key, which is the row in their table."""

    grad_node_name = text_column("grad_nodes", "name")
    """Paddle's name of a grad node: ``"PowGradNode"``."""
    op_of_node = column("grad_nodes", "op")
    """The op that made a grad node, -1 for none."""
    grad_nodes = rows("grad_nodes", "op", of="ops")
    """The grad nodes that an op made."""
    edges_out = rows("grad_edges", "source", of="grad_nodes")
    """The edges on which a grad node passes gradients on, by slot."""
    edges_in = rows("grad_edges", "target", of="grad_nodes")
    edge_source = column("grad_edges", "source")
    edge_target = column("grad_edges", "target")
    ops_before = column("backward_calls", "ops_before")
    """How many ops had been recorded when a backward call began."""
    backward_error = text_column("backward_calls", "error")
    """The text of the exception that a backward call raised, ``""`` for none."""
    nodes_of_call = rows("backward_members", "backward_call", "grad_node", of="backward_calls")
    """The grad nodes of a backward call's graph."""
    roots = rows("grad_roots", "backward_call", "grad_node", of="backward_calls")
    """The grad nodes at which a backward call began."""

    @cached_property
    def user_backward_calls(self) -> list[int]:
        """The user's backward calls, in order, without the calls of kind ``remaining``."""
        is_users = self.record.backward_calls["kind"] != _REMAINING
        calls: list[int] = np.flatnonzero(is_users).tolist()
        return calls

    @cached_property
    def is_paddle_grad(self) -> Callable[[int], bool]:
        """Whether a backward call is a call of ``paddle.grad``."""
        is_one: list[bool] = (self.record.backward_calls["kind"] == _PADDLE_GRAD).tolist()
        return is_one.__getitem__

    def place_of_call(self, call: int) -> Place:
        """Return the innermost line of the user's code that called backward."""
        return self.place_of_stack(int(self.record.backward_calls["stack"][call]))

    @cached_property
    def targets(self) -> dict[int, frozenset[int]]:
        """For each call of ``paddle.grad``, the grad nodes whose gradients were requested.

        A call without an entry runs to every leaf. In traces without this table, all calls do.
        """
        asked = self.record.grad_targets
        return {
            call: frozenset(asked["grad_node"][asked["backward_call"] == call].tolist()) - {-1}
            for call in np.unique(asked["backward_call"]).tolist()
        }

    def leaves_of_nodes(self, is_node: Mask) -> frozenset[int]:
        """Return the leaves, as first values, of marked grad nodes that accumulate gradients."""
        leaves = self.record.grad_nodes["parameter"][is_node]
        return frozenset(np.unique(self.first_values[leaves[leaves >= 0]]).tolist())

    def ops_of_nodes(self, is_node: Mask) -> Mask:
        """Return for each op whether it made one of the marked grad nodes, shape ``[ops]``."""
        is_op = np.zeros(self.op_count, np.bool_)
        ops = self.record.grad_nodes["op"][is_node]
        is_op[ops[ops >= 0]] = True
        return is_op

    def nodes_of_calls(self, calls: list[int]) -> Mask:
        """Return for each grad node whether it is in the graph of one of these calls."""
        members = self.record.backward_members
        is_node = np.zeros(len(self.record.grad_nodes), np.bool_)
        is_node[members["grad_node"][np.isin(members["backward_call"], calls)]] = True
        return is_node


def with_bad_numbers(stats: Any) -> Mask:
    """Return for each row of ``value_stats`` or ``grad_stats`` whether it has NaN or Inf."""
    is_bad: Mask = (stats["nans"] > 0) | (stats["infs"] > 0)
    return is_bad
