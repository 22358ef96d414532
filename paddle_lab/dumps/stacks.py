"""Stacks of Python as Paddle writes them: of ops by name, and of grad nodes by pointer."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from paddle_lab.trace.schema import FRAME_KINDS

_FRAME: Final = re.compile(r'  File "(.*)", line (\d+), in (.*)$')
_OP: Final = re.compile(r"(\S+) : $")
_GRAD_NODE: Final = re.compile(r"GradNodeBase (\S+) ptr : 0x([0-9a-f]+) call stack: ?$")
_PADDLE: Final = re.compile(r"[\\/](site|dist)-packages[\\/]paddle[\\/]")
_LIBRARY: Final = re.compile(r"[\\/](site|dist)-packages[\\/]|[\\/]lib[\\/]python3")
_USER, _LIBRARY_KIND, _PADDLE_KIND = map(FRAME_KINDS.index, ("user", "library", "paddle"))


class Frame(NamedTuple):
    """A line of Python that was running."""

    file: str
    line: int
    function: str
    text: str
    """The line itself."""

    @property
    def kind(self) -> int:
        """Position in :data:`paddle_lab.trace.schema.FRAME_KINDS`."""
        if _PADDLE.search(self.file):
            return _PADDLE_KIND
        return _LIBRARY_KIND if _LIBRARY.search(self.file) else _USER


Stack = tuple[Frame, ...]
"""Outermost frame first."""


@dataclass
class Stacks:
    """The stacks in one file."""

    ops: dict[str, Stack] = field(default_factory=dict)
    """By the op's unique name, in the order in which they ran."""
    grad_nodes: dict[tuple[str, int], Stack] = field(default_factory=dict)
    """By the grad node's name and its pointer."""


def read_stacks(text: str) -> Stacks:
    """Return the stacks in a file's text; those of a line that was cut short are left out."""
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
            frames.append(Frame(frame[1], int(frame[2]), frame[3], ""))
        elif node := _GRAD_NODE.match(line):
            keep()
            name, frames = (node[1], int(node[2], 16)), []
        elif op := _OP.match(line):
            keep()
            name, frames = op[1], []
        elif frames and line.startswith("    ") and not frames[-1].text:
            frames[-1] = frames[-1]._replace(text=line.strip())
    keep()
    return found
