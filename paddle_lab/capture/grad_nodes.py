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

from collections.abc import Callable, Container, Iterable
from itertools import count
from typing import Any

import numpy as np

from paddle_lab.capture.address_table import AddressTable
from paddle_lab.capture.lineage import Upstream
from paddle_lab.capture.op_names import OP_NAMES
from paddle_lab.capture.tape import Cells, Tape, rows_of

NO_OP = -1
NO_TENSOR = -1
LEAF_NAME = "GradNodeAccumulation"

NODE_CELLS = 4
EDGE_CELLS = 5
ROOT_CELLS = 2


class GradNodePool:
    """The grad nodes of all backward graphs of one trace.

    Parameters
    ----------
    upstream_of
        Tells of an op where gradients of its inputs go.
    """

    def __init__(self, upstream_of: Callable[[int], Upstream]) -> None:
        self.rows = Tape()
        """Of each grad node :data:`NODE_CELLS` cells: key, name (a key of
        :data:`~paddle_lab.capture.op_names.OP_NAMES`), address, op."""
        self.edges = Tape()
        """Of each edge :data:`EDGE_CELLS` cells: key, source, target, slot, tensor whose gradient
        it carries."""
        self.roots = Tape()
        """Of each root :data:`ROOT_CELLS` cells: backward call, grad node."""
        self.leaf_keys: dict[int, int] = {}
        """Address of an accumulation node to its key."""
        self._upstream_of = upstream_of
        self._keys = AddressTable()
        self._held: dict[int, tuple[Any, int]] = {}
        self._next_key = count().__next__
        self._next_edge = count().__next__

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
        upstream_of, held = self._upstream_of, self._held
        while pending:
            node, address, op = pending.pop()
            if address in reached:
                continue
            reached[address] = (node, op)
            upstream = upstream_of(op) if op != NO_OP else {}
            following_of[address] = links = []
            found = []
            for slot, following in enumerate(node.next_functions):
                if following is None:
                    continue
                target = following.node_ptr()
                source = upstream.get(target)
                if source is not None and target not in held:
                    made_by, tensor = source
                else:
                    made_by, tensor = self._attribute(following, target, op, source)
                links.append((slot, target, tensor))
                found.append((following, target, made_by))
            found.reverse()
            pending += found
        fresh = self._register_all(reached)
        keys = (
            {address: self._keys.find(address, op) for address, (_, op) in reached.items()}
            if fresh
            else {}
        )
        for address in fresh:
            source_key = keys[address]
            cells: list[int] = []
            for slot, target, tensor in following_of[address]:
                cells += (self._next_edge(), source_key, keys[target], slot, tensor)
            self.edges.extend(cells)
        for address in dict.fromkeys(root_addresses):
            self.roots.extend((backward_call, self._key_at(address, reached)))
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
        key: int = self._keys.find(address, op)
        return key

    def name_of(self, key: int) -> str:
        """Return the name of a recorded node."""
        return OP_NAMES.name(_row(self.rows, NODE_CELLS, key)[1])

    def edge(self, key: int) -> list[int]:
        """Return source, target, slot and tensor of an edge."""
        return _row(self.edges, EDGE_CELLS, key)[1:]

    def ops(self) -> dict[int, int]:
        """Return the op of each grad node."""
        return {key: op for key, _, _, op in rows_of(self.rows, NODE_CELLS)}

    def is_recorded(self, address: int, op: int) -> bool:
        """Tell whether some walk has reached this node."""
        return bool(self._keys.find(address, op) >= 0)

    def forget(self, nodes: Cells, edges: Cells, roots: Cells, *, gone: Cells) -> None:
        """Forget grad nodes.

        Parameters
        ----------
        nodes, edges, roots
            The rows of the others.
        gone
            The rows of those to forget.
        """
        for tape, rows in ((self.rows, nodes), (self.edges, edges), (self.roots, roots)):
            tape.replace(len(tape), np.ascontiguousarray(rows).tobytes())
        for key, _, address, op in gone.tolist():
            self._keys.drop(address, op)
            if op == NO_OP:
                self._held.pop(address, None)
            if self.leaf_keys.get(address) == key:
                del self.leaf_keys[address]

    def forget_held(self, ops: Container[int]) -> None:
        """Let go of nodes held for ops that are forgotten."""
        for address, (_, op) in list(self._held.items()):
            if op in ops:
                del self._held[address]

    def _attribute(
        self, node: Any, address: int, op: int, source: tuple[int, int] | None
    ) -> tuple[int, int]:
        held = self._held.get(address)
        if held is not None:
            return held[1], source[1] if source is not None else NO_TENSOR
        return (NO_OP if node.name() == LEAF_NAME else op), NO_TENSOR

    def _register_all(self, reached: dict[int, tuple[Any, int]]) -> list[int]:
        """Record the nodes that are not recorded yet; returns their addresses."""
        keys, fresh = self._keys, []
        for address, (node, op) in reached.items():
            if keys.find(address, op) >= 0:
                continue
            name = node.name()
            key = self._next_key()
            keys.note(address, op, key)
            self.rows.extend((key, OP_NAMES.key(name), address, op))
            if op == NO_OP:
                self._held[address] = (node, op)
            if name == LEAF_NAME:
                self.leaf_keys[address] = key
            fresh.append(address)
        return fresh

    def _key_at(self, address: int, reached: dict[int, tuple[Any, int]]) -> int:
        key: int = self._keys.find(address, reached[address][1])
        return key


def _row(tape: Tape, width: int, key: int) -> list[int]:
    """Return the row with a key, which may have moved up when others were forgotten."""
    low, high = tape.start // width, min(key + 1, len(tape) // width)
    row: list[int] = tape.to_list(key * width, (key + 1) * width)
    while not row or row[0] != key:
        middle = (low + high) // 2
        row = tape.to_list(middle * width, (middle + 1) * width)
        low, high = (middle + 1, high) if row[0] < key else (low, middle)
    return row
