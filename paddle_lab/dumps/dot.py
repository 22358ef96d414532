"""Parses a graph in a ``.dot`` file, which Paddle or the package ``graphviz`` wrote."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

_QUOTED: Final = r'"(?:[^"\\]|\\.)*"'
_NAME: Final = rf'{_QUOTED}|[^\s"\[\]<>{{}};-]+'
_STATEMENT: Final = re.compile(
    rf"({_NAME})\s*(?:->\s*({_NAME})\s*)?\[((?:{_QUOTED}|[^\]\"])*)\]", re.DOTALL
)
_LABEL: Final = re.compile(rf"\blabel=({_QUOTED}|\S+)", re.DOTALL)
_POINTER: Final = re.compile(r"(?:Ptr|GradNode): 0x([0-9a-f]+)")
_DTYPE_AND_SHAPE: Final = re.compile(r"(?:dtype:)?([a-z]+[0-9]*) ?\[([\d, -]*)\]$")


class Node(NamedTuple):
    """A node of the graph: a grad node, or an op."""

    name: str
    address: int
    """Paddle's pointer to the grad node, 0 if the file has none."""


class Edge(NamedTuple):
    """An edge: a tensor that one node passes to another node."""

    source: str
    target: str
    tensor: str
    """The tensor's name, ``""`` if the file has none."""
    dtype: str
    shape: str
    """``"[1, 12]"``"""


@dataclass
class Graph:
    """A graph: nodes by their id in the file, and the edges between them."""

    nodes: dict[str, Node] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    is_whole: bool = False
    """Whether the file is complete, and every edge has both of its nodes."""


def read_dot(text: str) -> Graph:
    """Return the graph in a file's text, or the part that exists in a truncated file."""
    graph = Graph(is_whole=re.search(r"\}\s*(// end G)?\s*$", text) is not None)
    for name, target, attributes in _STATEMENT.findall(text):
        label = _LABEL.search(attributes)
        lines = _plain(label[1]).split("\n") if label else []
        if not target:
            pointer = next((found for line in lines if (found := _POINTER.match(line))), None)
            address = int(pointer[1], 16) if pointer else 0
            graph.nodes[_plain(name)] = Node(lines[0] if lines else _plain(name), address)
        else:
            graph.edges.append(_edge(_plain(name), _plain(target), lines))
    known = [edge for edge in graph.edges if {edge.source, edge.target} <= graph.nodes.keys()]
    graph.is_whole &= len(known) == len(graph.edges)
    graph.edges = known
    return graph


def _edge(source: str, target: str, lines: list[str]) -> Edge:
    # Paddle writes "name@Grad", "Place(cpu)", "float32[1, 12]", or "name,", "shape:[1, 12]",
    # "dtype:float32,".
    tensor, dtype, shape = "", "", ""
    for line in lines:
        if found := _DTYPE_AND_SHAPE.match(line):
            dtype, shape = found[1], f"[{found[2]}]"
        elif line.startswith("shape:"):
            shape = line.removeprefix("shape:")
        elif line.startswith("dtype:"):
            dtype = line.removeprefix("dtype:").rstrip(",")
        elif not line.startswith("Place("):
            tensor = tensor or line.rstrip(",")
    return Edge(source, target, tensor, dtype, shape)


def _plain(text: str) -> str:
    if not text.startswith('"'):
        return text
    return text[1:-1].replace("\\n", "\n").replace('\\"', '"').rstrip(",")
