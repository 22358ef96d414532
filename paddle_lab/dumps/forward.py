"""The ops of a process: names, stacks and tensors, from all files that mention the ops."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Final, NamedTuple

from paddle_lab.dumps.dot import Edge, Graph, Node
from paddle_lab.dumps.files import Backward, Process
from paddle_lab.dumps.log import logged_ops
from paddle_lab.dumps.stacks import Stack
from paddle_lab.trace.log_text import LogEntries

LEAF: Final = "GradNodeAccumulation"
_SOURCE: Final = "_SourceNode"
_NODE: Final = "GradNode"
_CREATE: Final = "create_parameter"


class Tensor(NamedTuple):
    """A tensor that an op reads."""

    key: str
    """Two tensors with equal keys are the same tensor."""
    name: str
    dtype: str
    shape: str
    producer: str
    """The op that made the tensor, ``""`` if no op did."""


@dataclass
class Op:
    """An op."""

    name: str
    stack: Stack = ()
    inputs: dict[str, Tensor] = field(default_factory=dict)


class Forward:
    """The ops of a process by their unique names, or by their grad nodes.

    Parameters
    ----------
    process
        The dumps of the process.
    """

    def __init__(self, process: Process) -> None:
        self._process = process
        self.ops = {name: Op(name, stack) for name, stack in process.stacks.ops.items()}
        self.leaves: dict[tuple[str, str], str] = {}
        """Maps a backward call and a leaf's node to the key of the leaf's tensor."""
        self.parameters: set[str] = set()
        """Keys of tensors that a layer made as parameters, according to the stacks."""
        for graph in process.forwards:
            self._add_graph(graph)
        for log in process.logs:
            self._add_log(log)
        for backward in process.backwards:
            for node in backward.graph.nodes.values():
                self._add(node, backward)
            for number, edge in enumerate(backward.graph.edges):
                self._reverse(backward, number, edge)

    def op_of(self, node: Node, backward: Backward) -> str:
        """Return the key of the op that made a grad node, ``""`` for the node of a leaf."""
        if node.name == LEAF:
            return ""
        name = backward.ops.get(node.address) or node.name
        name = name.removesuffix("Final").removesuffix(_NODE)
        # A unique name begins with the name of the op. Other names begin with the name of the
        # class.
        is_unique = node.name.endswith(_NODE) and node.name[0].islower()
        return name if is_unique else f"{name}@{node.address:x}"

    def in_order(self) -> list[str]:
        """Return the ops, each after the ops whose outputs it reads."""
        readers: defaultdict[str, list[str]] = defaultdict(list)
        waits = dict.fromkeys(self.ops, 0)
        for key, op in self.ops.items():
            for producer in {one.producer for one in op.inputs.values()} & self.ops.keys() - {key}:
                readers[producer].append(key)
                waits[key] += 1
        keys = list(self.ops)
        number = {key: at for at, key in enumerate(keys)}
        # If several ops could be next, take the op that comes first in the files.
        ready, found = [number[key] for key in keys if not waits[key]], []
        while ready:
            found.append(keys[heappop(ready)])
            for reader in readers[found[-1]]:
                waits[reader] -= 1
                if not waits[reader]:
                    heappush(ready, number[reader])
        return [*found, *(key for key in keys if waits[key])]

    def _add_graph(self, graph: Graph) -> None:
        for node in graph.nodes.values():
            if not node.name.endswith(_SOURCE):
                self.ops.setdefault(node.name, Op(node.name))
        for edge in graph.edges:
            producer = "" if edge.source.endswith(_SOURCE) else edge.source
            self._read(edge.target, Tensor(*_named(edge, edge.tensor), producer))

    def _add_log(self, log: LogEntries) -> None:
        made: dict[str, str] = {}
        for name, inputs, outputs in logged_ops(log):
            self.ops.setdefault(name, Op(name))
            for one in inputs:
                self._read(name, Tensor(one[0], *one, made.get(one[0], "")))
            made.update((one[0], name) for one in outputs)

    def _add(self, node: Node, backward: Backward) -> None:
        key = self.op_of(node, backward)
        if not key:
            return
        op = self.ops.setdefault(key, Op(key.partition("@")[0]))
        op.stack = op.stack or self._stack_of(node, backward)

    def _stack_of(self, node: Node, backward: Backward) -> Stack:
        key = node.name, node.address
        return backward.stacks.get(key) or self._process.stacks.grad_nodes.get(key, ())

    def _reverse(self, backward: Backward, number: int, edge: Edge) -> None:
        """Add the tensor to which an edge's gradient belongs. In the forward it is an input."""
        source, target = (backward.graph.nodes[one] for one in (edge.source, edge.target))
        reader, producer = self.op_of(source, backward), self.op_of(target, backward)
        key, name, dtype, shape = _named(edge, edge.tensor.removesuffix("@Grad"))
        key = key or f"{backward.name} {number}"
        if not producer:
            self.leaves[backward.name, edge.target] = key
            if any(frame.function == _CREATE for frame in self._stack_of(target, backward)):
                self.parameters.add(key)
        self._read(reader, Tensor(key, name, dtype, shape, producer))

    def _read(self, reader: str, tensor: Tensor) -> None:
        if reader in self.ops:
            self.ops[reader].inputs.setdefault(tensor.key, tensor)


def _named(edge: Edge, name: str) -> tuple[str, str, str, str]:
    return name, name, edge.dtype, edge.shape
