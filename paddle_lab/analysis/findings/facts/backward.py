"""What a record says of backward: grad nodes, and the calls that ran them."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.findings.facts.columns import RecordColumns
from paddle_lab.analysis.graph.pairing import grad_nodes_of_ops
from paddle_lab.analysis.graph.trees import Keys, csr
from paddle_lab.trace.schema import BACKWARD_KINDS

_REMAINING = BACKWARD_KINDS.index("remaining")


class BackwardFacts(RecordColumns):
    """Grad nodes and backward calls by key: the rows in their tables."""

    def grad_nodes(self, op: int) -> list[int]:
        """Return the grad nodes that an op made."""
        starts, nodes = self._paired
        found: list[int] = nodes[starts[op] : starts[op + 1]].tolist()
        return found

    @cached_property
    def _paired(self) -> tuple[Keys, Keys]:
        return grad_nodes_of_ops(self.record)

    def grad_node_name(self, node: int) -> str:
        """Return Paddle's name of a grad node: ``"PowGradNode"``."""
        return self.record.text(self.column("grad_nodes", "name")[node])

    def op_of_node(self, node: int) -> int:
        """Return the op that made a grad node, -1 where none did."""
        return self.column("grad_nodes", "op")[node]

    def backward_error(self, call: int) -> str:
        """Return the text of the exception that a backward call raised, ``""`` for none."""
        return self.record.text(int(self.record.backward_calls["error"][call]))

    def ops_before(self, call: int) -> int:
        """Return how many ops had been recorded when a backward call began."""
        return int(self.record.backward_calls["ops_before"][call])

    def nodes_of_call(self, call: int) -> list[int]:
        """Return the grad nodes of a backward call's graph."""
        starts, order = self._members
        members = self.record.backward_members["grad_node"]
        found: list[int] = members[order[starts[call] : starts[call + 1]]].tolist()
        return found

    @cached_property
    def _members(self) -> tuple[Keys, Keys]:
        members = self.record.backward_members["backward_call"]
        return csr(members, len(self.record.backward_calls))

    def roots(self, call: int) -> list[int]:
        """Return the grad nodes at which a backward call began."""
        roots = self.record.grad_roots
        found: list[int] = roots["grad_node"][roots["backward_call"] == call].tolist()
        return found

    @cached_property
    def targets(self) -> dict[int, frozenset[int]]:
        """Of calls of ``paddle.grad``, the grad nodes that they were asked to bring gradients to.

        Other calls go to every leaf, and so do those of traces that do not tell.
        """
        table = self.record.grad_targets
        found: dict[int, set[int]] = {}
        for call, node in zip(
            table["backward_call"].tolist(), table["grad_node"].tolist(), strict=True
        ):
            found.setdefault(call, set()).add(node)
        return {call: frozenset(nodes - {-1}) for call, nodes in found.items()}

    @cached_property
    def stops(self) -> dict[int, frozenset[int]]:
        """Of calls of ``paddle.grad``, the tensors they were given as ``no_grad_vars``."""
        table = self.record.grad_stops
        found: dict[int, set[int]] = {}
        for call, tensor in zip(
            table["backward_call"].tolist(), table["tensor"].tolist(), strict=True
        ):
            found.setdefault(call, set()).add(tensor)
        return {call: frozenset(tensors) for call, tensors in found.items()}

    @cached_property
    def following_nodes(self) -> dict[int, list[int]]:
        """Of each grad node, the nodes to which it hands gradients, by slot."""
        following: dict[int, list[int]] = {}
        edges = self.record.grad_edges
        for source, target in zip(edges["source"].tolist(), edges["target"].tolist(), strict=True):
            following.setdefault(source, []).append(target)
        return following

    @cached_property
    def user_backward_calls(self) -> list[int]:
        """The backward calls of the user's, in order; ``remaining`` graphs are nobody's call."""
        is_users = self.record.backward_calls["kind"] != _REMAINING
        calls: list[int] = np.flatnonzero(is_users).tolist()
        return calls

    @cached_property
    def reached_nodes(self) -> npt.NDArray[np.bool_]:
        """Whether a backward call of the user's reached a grad node, shape ``[grad_nodes]``."""
        members = self.record.backward_members
        is_users = np.isin(members["backward_call"], self.user_backward_calls)
        reached = np.zeros(len(self.record.grad_nodes), np.bool_)
        reached[members["grad_node"][is_users]] = True
        return reached

    @cached_property
    def reached_ops(self) -> npt.NDArray[np.bool_]:
        """Whether a backward call of the user's reached an op's grad node, shape ``[ops]``."""
        reached = np.zeros(self.op_count, np.bool_)
        ops = self.record.grad_nodes["op"][self.reached_nodes]
        reached[ops[ops >= 0]] = True
        return reached
