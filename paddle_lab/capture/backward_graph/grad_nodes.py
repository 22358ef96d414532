"""The backward graph: its grad nodes, their edges, and the op that made each node.

Nodes are known by address, ``node_ptr()``, but Paddle reuses freed addresses. Holding every node
would prevent that, but would also keep the activations that nodes save. So the op of a node follows
from the record. A gradient that leaves a node of op *k* goes to one of three places:

- the grad node of one of *k*'s input tensors: its address was noted when that tensor was made, and
  it is alive because *k*'s node holds it,
- a leaf,
- another node that *k* made (one ``linear`` makes an ``AddGradNode`` and a ``MatmulGradNode``).

A stale address fits none of these. Only two kinds of nodes are held until the trace ends: leaves,
and nodes from before the trace. Nodes that a backward call with ``create_graph`` makes in C++,
where no op is seen, are held as long as a living tensor reaches them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.rows.address_table import AddressTable
from paddle_lab.capture.rows.cells import EDGE_CELLS, NODE_CELLS, NodeCell
from paddle_lab.capture.rows.counter import Counter
from paddle_lab.capture.rows.lineage import Lineage
from paddle_lab.capture.rows.op_names import OP_NAMES
from paddle_lab.capture.rows.tape import Tape, rows_of

NO_OP = -1
NO_TENSOR = -1

Reached = dict[int, tuple[Any, int]]
"""Maps a grad node's address to the node and its op."""


class GradNodePool:
    """The grad nodes of all backward graphs of one trace.

    Parameters
    ----------
    lineage
        Returns the grad nodes that receive the gradients of an op's inputs.
    """

    def __init__(self, lineage: Lineage) -> None:
        self.rows = Tape()
        """Rows of :class:`NodeCell`."""
        self.edges = Tape()
        """Rows of :class:`EdgeCell`."""
        self.roots = Tape()
        """Rows of :class:`RootCell`."""
        self.targets = Tape()
        """Pairs of backward call and grad node: one for each of ``inputs`` of ``paddle.grad``."""
        self.leaf_keys: dict[int, int] = {}
        """Maps an accumulation node's address to its key."""
        self.leaf_addresses: dict[Any, int] = {}
        """Maps the same nodes to their addresses, because asking Paddle takes longer."""
        self.lineage = lineage
        self.keys = AddressTable()
        """Keys of nodes, by address and op."""
        self.held: Reached = {}
        """Nodes that are kept alive, so that no other node gets their addresses."""
        self.next_key = Counter()
        self.next_edge = Counter()
        self.key_of_name = OP_NAMES.key

    def reach(self, roots: Iterable[Any]) -> Reached:
        """Return the reachable nodes; record nothing. Nodes that are not in ``held`` have no op."""
        reached: Reached = {}
        pending = list(roots)
        while pending:
            node = pending.pop()
            address = DOOR.node_address(node)
            if address not in reached:
                reached[address] = self.held.get(address, (node, NO_OP))
                pending.extend(nodes_behind(node))
        return reached

    def key_of(self, address: int, op: int) -> int:
        """Return the key of a node, -1 if the node was not reached before."""
        key: int = self.keys.find(address, op)
        return key

    def name_of(self, key: int) -> str:
        """Return the name of a recorded node."""
        return OP_NAMES.name(_row(self.rows, NODE_CELLS, key)[NodeCell.NAME])

    def edge(self, key: int) -> list[int]:
        """Return source, target, slot and tensor of an edge."""
        return _row(self.edges, EDGE_CELLS, key)[1:]

    def ops(self) -> dict[int, int]:
        """Return the op of each grad node."""
        return {key: op for key, _, _, op in rows_of(self.rows, NODE_CELLS)}

    def forget(self, gone: Iterable[list[int]]) -> None:
        """Forget grad nodes, given their rows."""
        for key, _, address, op in gone:
            self.keys.drop(address, op)
            if op == NO_OP:
                node, _ = self.held.pop(address, (None, op))
                self.leaf_addresses.pop(node, None)
            if self.leaf_keys.get(address) == key:
                del self.leaf_keys[address]


def nodes_behind(node: Any) -> list[Any]:
    """Return the grad nodes to which a node passes gradients."""
    return [following for following in DOOR.next_functions(node) if following is not None]


def _row(tape: Tape, width: int, key: int) -> list[int]:
    """Return the row with a key. If rows were forgotten, its position is less than the key."""
    low, high = max(key, tape.start // width), len(tape) // width
    middle = low  # where it is if rows were neither forgotten nor written by several threads
    while low < high:
        row = tape.to_list(middle * width, (middle + 1) * width)
        if row[0] == key:
            return row
        low, high = (middle + 1, high) if row[0] < key else (low, middle)
        middle = (low + high) // 2
    raise KeyError(key)
