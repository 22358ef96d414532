"""Reads Python stacks that Paddle wrote: of ops by name, and of grad nodes by pointer."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from paddle_lab.trace.row_writer import Frame
from paddle_lab.trace.schema import FRAME_KINDS

_FRAME: Final = re.compile(r'  File "(.*)", line (\d+), in (.*)$')
_OP: Final = re.compile(r"(\S+) : $")
_GRAD_NODE: Final = re.compile(r"GradNodeBase (\S+) ptr : 0x([0-9a-f]+) call stack: ?$")
_PADDLE: Final = re.compile(r"[\\/](site|dist)-packages[\\/]paddle[\\/]")
_LIBRARY: Final = re.compile(r"[\\/](site|dist)-packages[\\/]|[\\/]lib[\\/]python3")
_USER, _LIBRARY_KIND, _PADDLE_KIND = map(FRAME_KINDS.index, ("user", "library", "paddle"))


Stack = tuple[Frame, ...]
"""Outermost frame first."""


@dataclass
class Stacks:
    """The stacks in one file."""

    ops: dict[str, Stack] = field(default_factory=dict)
    """The stack of each op, by the op's unique name, in the order in which the ops ran."""
    grad_nodes: dict[tuple[str, int], Stack] = field(default_factory=dict)
    """The stack of each grad node, by the name and pointer of the grad node."""
    texts: dict[tuple[str, int], str] = field(default_factory=dict)
    """The text of each line, by file and line number."""


def read_stacks(text: str) -> Stacks:
    """Return the stacks in a file's text, without the stack of a truncated line."""
    found = Stacks()
    name: str | tuple[str, int] = ""
    frames: list[Frame] = []

    def keep() -> None:
        if isinstance(name, tuple):
            found.grad_nodes[name] = tuple(frames)
        elif name:
            found.ops[name] = tuple(frames)

    for line in text.split("\n"):
        if frame := _FRAME.match(line):
            frames.append(Frame(frame[1], int(frame[2]), frame[3], _kind_of(frame[1])))
        elif node := _GRAD_NODE.match(line):
            keep()
            name, frames = (node[1], int(node[2], 16)), []
        elif op := _OP.match(line):
            keep()
            name, frames = op[1], []
        elif frames and line.startswith("    "):
            found.texts.setdefault(frames[-1][:2], line.strip())
    keep()
    return found


def _kind_of(file: str) -> int:
    if _PADDLE.search(file):
        return _PADDLE_KIND
    return _LIBRARY_KIND if _LIBRARY.search(file) else _USER
