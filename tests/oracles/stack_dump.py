"""Paddle's own Python stacks: of every eager op, and of the op behind every grad node.

``FLAGS_dump_api_python_stack_path`` writes each op's stack under its unique name (``matmul12``).
``FLAGS_dump_grad_node_forward_stack_path`` does the same for the op behind each grad node of a
backward pass (``matmul12GradNode``), but makes the pass several times slower.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import paddle

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_API_FLAG = "FLAGS_dump_api_python_stack_path"
_GRAD_NODE_FLAG = "FLAGS_dump_grad_node_forward_stack_path"
_LEVEL_FLAG = "FLAGS_call_stack_level"
_UNIQUE_NAMES_FLAG = "FLAGS_enable_unique_name"  # switched on by the others
_API = re.compile(r"^(\w+) : $", re.MULTILINE)
_GRAD_NODE = re.compile(r"^GradNodeBase (\w+) ptr : (0x[0-9a-f]+) call stack: ", re.MULTILINE)
_FRAME = re.compile(r'^  File "(.+)", line (\d+), in (.+)$', re.MULTILINE)


class DumpedFrame(NamedTuple):
    """One frame of a stack."""

    file: str
    line: int
    function: str


@dataclass
class StackDump:
    """What Paddle wrote while the guarded code ran, filled when the guard ends."""

    op_stacks: dict[str, list[DumpedFrame]] = field(default_factory=dict)
    """Unique name of an op to its stack, outermost frame first."""
    grad_nodes: dict[int, str] = field(default_factory=dict)
    """Address to name of every grad node that a pass could reach: the unique name of its op and
    ``GradNode``, or the class's name where Paddle keeps none."""


@contextmanager
def stack_dump(folder: Path) -> Iterator[StackDump]:
    """Have Paddle dump stacks into ``folder``, which is empty, and read them."""
    dump = StackDump()
    flags = {_API_FLAG: str(folder / "api"), _GRAD_NODE_FLAG: str(folder / "node"), _LEVEL_FLAG: 3}
    before = paddle.get_flags([*flags, _UNIQUE_NAMES_FLAG])
    paddle.set_flags(flags)
    try:
        yield dump
    finally:
        paddle.set_flags(before)
        for name, text in _sections(folder, "api.*", _API):
            dump.op_stacks[name[0]] = [
                DumpedFrame(file, int(line), function)
                for file, line, function in _FRAME.findall(text)
            ]
        for name, _text in _sections(folder, "node.*", _GRAD_NODE):
            dump.grad_nodes[int(name[1], 16)] = name[0]


def _sections(
    folder: Path, pattern: str, heading: re.Pattern[str]
) -> Iterator[tuple[tuple[str, ...], str]]:
    for path in folder.glob(pattern):  # Paddle appends the process's number
        text = path.read_text()
        found = list(heading.finditer(text))
        ends = [match.start() for match in found[1:]] + [len(text)]
        for match, end in zip(found, ends, strict=True):
            yield match.groups(), text[match.end() : end]
