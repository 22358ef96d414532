"""The backward graph: which grad nodes there are, how they hang together, and which op made each.

Nodes are known by address, ``node_ptr()``, and freed addresses are reused. Holding every node would
rule that out, but would also keep the activations that nodes save. So a node is attributed by what
the record says must be there: from a node that op *k* made, a gradient goes on either to the grad
node of one of *k*'s input tensors, whose address was noted when that tensor was made and which is
alive because *k*'s node holds it, or to a leaf, or else to another node that *k* itself made (one
``linear`` makes an ``AddGradNode`` and a ``MatmulGradNode``). A stale address can satisfy none of
these.

Held until the trace ends are only leaves, nodes from before the trace, and those that a backward
call with ``create_graph`` makes in C++, where no op is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

NO_OP = -1
NO_TENSOR = -1
LEAF_NAME = "GradNodeAccumulation"

GradNodeRow = tuple[int, str, int, int]
"""key, name, address, op."""
GradEdgeRow = tuple[int, int, int, int]
"""source, target, slot, tensor whose gradient it carries."""
Upstream = dict[int, tuple[int, int]]
"""Of one op's inputs: address of the input's grad node to (op that made it, input tensor)."""


class GradNodePool:
    """The grad nodes of all backward graphs of one trace.

    Parameters
    ----------
    upstream_of
        Tells of an op where gradients of its inputs go.
    """

    def __init__(self, upstream_of: Callable[[int], Upstream]) -> None:
        self.rows: list[GradNodeRow] = []
        self.edges: list[GradEdgeRow] = []
        self.roots: list[tuple[int, int]] = []
        """(backward call, grad node)."""
        self.leaf_keys: dict[int, int] = {}
        """Address of an accumulation node to its key."""
        self._upstream_of = upstream_of
        self._keys: dict[tuple[int, int], int] = {}
        self._held: dict[int, tuple[Any, int]] = {}
        self._next_key = count().__next__

    def walk(
        self, roots: Iterable[tuple[Any, int]], *, backward_call: int
    ) -> dict[int, tuple[Any, int]]:
        """Record every node reachable from ``roots`` that is not recorded yet.

        Parameters
        ----------
        roots
            Grad nodes and the ops that made them.
        backward_call
            The call these are the roots of.

        Returns
        -------
        dict
            Address to (node, op) of all that were reached. Drop it soon: it holds the nodes.
        """
        reached: dict[int, tuple[Any, int]] = {}
        following_of: dict[int, list[tuple[int, int, int]]] = {}
        pending: list[tuple[Any, int, int]] = []
        root_addresses = []
        for node, op in roots:
            address = node.node_ptr()
            root_addresses.append(address)
            pending.append((node, address, self._held[address][1] if address in self._held else op))
        while pending:
            node, address, op = pending.pop()
            if address in reached:
                continue
            reached[address] = (node, op)
            upstream = self._upstream_of(op) if op != NO_OP else {}
            following_of[address] = links = []
            found = []
            for slot, following in enumerate(node.next_functions):
                if following is None:
                    continue
                target = following.node_ptr()
                made_by, tensor = self._attribute(following, target, op, upstream)
                links.append((slot, target, tensor))
                found.append((following, target, made_by))
            pending.extend(reversed(found))
        fresh = [
            address for address, (node, op) in reached.items() if self._register(node, address, op)
        ]
        for address in fresh:
            source = self._key_at(address, reached)
            for slot, target, tensor in following_of[address]:
                self.edges.append((source, self._key_at(target, reached), slot, tensor))
        for address in dict.fromkeys(root_addresses):
            self.roots.append((backward_call, self._key_at(address, reached)))
        return reached

    def reach(self, roots: Iterable[Any]) -> dict[int, tuple[Any, int]]:
        """Return the nodes reachable from ``roots`` without recording them; ops as far as held."""
        reached: dict[int, tuple[Any, int]] = {}
        pending = list(roots)
        while pending:
            node = pending.pop()
            address = node.node_ptr()
            if address not in reached:
                reached[address] = self._held.get(address, (node, NO_OP))
                pending.extend(
                    following for following in node.next_functions if following is not None
                )
        return reached

    def hold(self, nodes: Iterable[tuple[Any, int]]) -> None:
        """Keep nodes whose op only the caller knows, so that their addresses stay theirs."""
        for node, op in nodes:
            self._held[node.node_ptr()] = (node, op)

    def key_of(self, address: int, op: int) -> int:
        """Return the key of a recorded node."""
        return self._keys[address, op]

    def name_of(self, key: int) -> str:
        """Return the name of a recorded node."""
        return self.rows[key][1]

    def is_recorded(self, address: int, op: int) -> bool:
        """Tell whether some walk has reached this node."""
        return (address, op) in self._keys

    def _attribute(self, node: Any, address: int, op: int, upstream: Upstream) -> tuple[int, int]:
        held = self._held.get(address)
        source = upstream.get(address)
        if held is not None:
            return held[1], source[1] if source is not None else NO_TENSOR
        if source is not None:
            return source
        return (NO_OP if node.name() == LEAF_NAME else op), NO_TENSOR

    def _register(self, node: Any, address: int, op: int) -> bool:
        if (address, op) in self._keys:
            return False
        name = node.name()
        key = self._keys[address, op] = self._next_key()
        self.rows.append((key, name, address, op))
        if op == NO_OP:
            self._held[address] = (node, op)
        if name == LEAF_NAME:
            self.leaf_keys[address] = key
        return True

    def _key_at(self, address: int, reached: dict[int, tuple[Any, int]]) -> int:
        return self._keys[address, reached[address][1]]
