"""The backward graphs of one trace. Each is walked when a backward call begins."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from paddle_lab.capture.backward_graph.grad_nodes import NO_OP, GradNodePool, Reached
from paddle_lab.capture.backward_graph.grad_walk import walk_grad_nodes
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.collector import Forgotten
from paddle_lab.capture.grad_fn import GRAD_FN
from paddle_lab.capture.recorder.tensors import TensorPool
from paddle_lab.capture.rows.cells import EDGE_CELLS, NO_KEY
from paddle_lab.capture.rows.op_names import OP_NAMES
from paddle_lab.capture.rows.tape import cells_of

PADDLE_GRAD_OP = "paddle.grad"
"""The op name under which a call of ``paddle.grad`` is recorded."""


class BackwardGraphs:
    """Grad nodes, with the ops and tensors that the record links to them.

    Parameters
    ----------
    tensors
        The tensors that the trace has seen.
    tensor_type
        ``paddle.Tensor``.
    """

    def __init__(self, tensors: TensorPool, tensor_type: Any) -> None:
        self._lineage = tensors.lineage
        self.grad_nodes = GradNodePool(self._lineage)
        self.leaf_tensors: dict[int, int] = {}
        """Maps an accumulation node's key to the row of the tensor with its gradient."""
        self.stops: list[tuple[int, int]] = []
        """Pairs of a backward call and a tensor in the ``no_grad_vars`` of that ``paddle.grad``."""
        self._tensors = tensors
        self._tensor_type = tensor_type
        self._has_forgotten = False
        self._released_at = 0

    def walk(self, tensors: Any, backward_call: int, *, returns_reached: bool = False) -> Reached:
        """Record the backward graph of ``tensors``; see :func:`walk_grad_nodes`."""
        roots = []
        for tensor in flat(tensors):
            node = GRAD_FN.node(tensor) if isinstance(tensor, self._tensor_type) else None
            if node is not None:
                key = self._tensors.known_key(tensor)
                roots.append((node, self._lineage.maker(key)[0]))
        known_leaves = len(self.grad_nodes.leaf_keys)
        reached = walk_grad_nodes(
            self.grad_nodes, roots, backward_call, returns_reached=returns_reached
        )
        if len(self.grad_nodes.leaf_keys) > known_leaves:
            self._name_leaves()
        return reached

    def ask(self, tensors: Any, stops: Any, backward_call: int) -> None:
        """Note the targets and stops of a ``paddle.grad`` call whose graph was walked before.

        Parameters
        ----------
        tensors
            The tensors whose gradients the call returns.
        stops
            The ``no_grad_vars`` of the call: no gradient passes through these tensors.
        """
        for tensor in flat(tensors):
            self.grad_nodes.targets.extend((backward_call, self.node_of(tensor)))
        known = (self._tensors.known_key(tensor) for tensor in flat(stops))
        self.stops.extend((backward_call, key) for key in known if key != NO_KEY)

    def node_of(self, tensor: Any) -> int:
        """Return the key of a tensor's grad node, -1 if no walk has reached one."""
        pool = self.grad_nodes
        address = GRAD_FN.address(tensor) or 0
        if address in pool.leaf_keys:
            return pool.leaf_keys[address]
        op = self._lineage.maker(self._tensors.known_key(tensor))[0]
        return pool.key_of(address, pool.held.get(address, (None, op))[1])

    def walk_remaining(self, backward_call: int) -> bool:
        """Record the graphs of living tensors that no backward call has reached.

        Returns
        -------
        bool
            Whether there were such tensors.
        """
        unreached: set[int] = set()
        for key in self._tensors.living_keys().tolist():
            address = self._tensors.grad_address(key)
            if address is None:
                continue
            op, _ = self._lineage.maker(key)
            if self._has_forgotten and op != NO_KEY and self._lineage.name_key(op) == NO_KEY:
                continue
            if self.grad_nodes.key_of(address, op) == NO_KEY:
                unreached.add(key)
        living = self._tensors.living() if unreached else []
        waiting = [tensor for tensor, key in sorted(living, key=itemgetter(1)) if key in unreached]
        if waiting:
            self.walk(waiting, backward_call)
        return bool(waiting)

    def release(self) -> None:
        """Let go of the nodes of ``paddle.grad(create_graph=True)`` that no living tensor reaches.

        They would keep activations that the program has freed.
        """
        held = self.grad_nodes.held
        made = [address for address, (_, op) in list(held.items()) if op != NO_OP]
        if made:
            living = [tensor for tensor, _ in self._tensors.living()]
            reached = self.grad_nodes.reach(self.grad_nodes_of(living))
            for address in made:
                if address not in reached:
                    held.pop(address, None)
        self._released_at = len(held)

    def hold(self, nodes: Reached) -> None:
        """Hold the nodes of a ``paddle.grad(create_graph=True)``, so that its ops stay known."""
        self.grad_nodes.held.update(nodes)
        if len(self.grad_nodes.held) > 2 * self._released_at:
            self.release()

    def grad_nodes_of(self, result: Any) -> list[Any]:
        """Return the grad nodes of the tensors in a nested result."""
        nodes = [
            GRAD_FN.node(value)
            for value in flat(result)
            if isinstance(value, self._tensor_type) and DOOR.is_initialized(value)
        ]
        return [node for node in nodes if node is not None]

    def slots_of(self, op: int) -> list[int]:
        """Return the argument position of each input tensor of an op.

        The list is empty for op -1 and for calls of ``paddle.grad``, which is not an op of Paddle.
        """
        is_call = self._lineage.name_key(op) == OP_NAMES.key(PADDLE_GRAD_OP)
        return [] if is_call else self._lineage.inputs(op)[::2]

    def tensors(self) -> list[int]:
        """Return the rows of the tensors that leaves, edges and stops refer to."""
        edges = cells_of(self.grad_nodes.edges).reshape(-1, EDGE_CELLS)
        stops = (tensor for _, tensor in self.stops)
        return [*self.leaf_tensors.values(), *edges[:, 4].tolist(), *stops]

    def forget(self, gone: Forgotten) -> None:
        """Forget backward calls, grad nodes and ops that the trace does not keep."""
        self.stops[:] = [stop for stop in self.stops if stop[0] not in gone.backward_calls]
        for node in gone.grad_nodes.intersection(self.leaf_tensors):
            del self.leaf_tensors[node]
        held = self.grad_nodes.held
        for address in [address for address, (_, op) in list(held.items()) if op in gone.ops]:
            del held[address]
        self._has_forgotten = True

    def _name_leaves(self) -> None:
        """Find the tensors of new accumulation nodes while both are alive."""
        for tensor, key in self._tensors.living():
            if not tensor.stop_gradient and tensor.is_leaf:
                leaf = self.grad_nodes.leaf_keys.get(GRAD_FN.address(tensor) or 0)
                if leaf is not None:
                    self.leaf_tensors.setdefault(leaf, key)


def flat(values: Any) -> list[Any]:
    """Return the items of nested lists and tuples, in order."""
    found: list[Any] = []
    pending = [values]
    while pending:
        value = pending.pop()
        if isinstance(value, (list, tuple)):
            pending.extend(reversed(value))
        else:
            found.append(value)
    return found
