"""The files that ``backward(dump_backward_graph_path=...)`` writes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_NODE = re.compile(r'^\s*(\w+)\[label="(\w+)\\nPtr: (0x[0-9a-f]+)"', re.MULTILINE)
_EDGE = re.compile(r"^\s*(\w+)->(\w+)\[", re.MULTILINE)


@dataclass
class BackwardDump:
    """One backward graph as Paddle wrote it."""

    nodes: dict[int, str]
    """Address to name."""
    edges: list[tuple[int, int]]
    """Pairs of addresses, repeated where two nodes are joined twice."""


def read_backward_dump(folder: Path) -> list[BackwardDump]:
    """Read all backward graphs dumped into ``folder``, oldest first."""
    return [_read(path.read_text()) for path in sorted(folder.glob("*_backward_graph.dot"))]


def _read(text: str) -> BackwardDump:
    names = {key: (int(address, 16), name) for key, name, address in _NODE.findall(text)}
    return BackwardDump(
        nodes=dict(names.values()),
        edges=[(names[source][0], names[target][0]) for source, target in _EDGE.findall(text)],
    )
