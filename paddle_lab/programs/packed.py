"""A program as text, in the form in which the record of a trace stores it."""

from __future__ import annotations

import json
from typing import Any, Final

from paddle_lab.programs.program import Block, Op, Program, Source, Stack, Value
from paddle_lab.trace.row_writer import Frame
from paddle_lab.trace.schema import FRAME_KINDS

_OF_OP: Final = ("name", "inputs", "outputs", "attributes", "label", "layer", "is_trainable")


class StackNumbers(dict[Stack, int]):
    """The distinct stacks, in the order in which they were requested."""

    def __missing__(self, stack: Stack) -> int:
        self[stack] = number = len(self)
        return number

    def document(self) -> dict[str, list[Any]]:
        """Return the distinct stacks and their distinct frames."""
        frames: dict[Frame, int] = {}
        rows = [[frames.setdefault(frame, len(frames)) for frame in stack] for stack in self]
        return {"stacks": rows, "frames": [*frames]}


def stacks_in(document: dict[str, Any]) -> list[Stack]:
    """Return the stacks of :meth:`StackNumbers.document`.

    Raises
    ------
    ValueError, LookupError, TypeError
        If the document has no stacks.
    """
    frames = [
        Frame(str(file), int(line), str(function), range(len(FRAME_KINDS))[kind], int(cell))
        for file, line, function, kind, cell in document["frames"]
    ]
    return [tuple(frames[at] for at in row) for row in document["stacks"]]


def pack(program: Program) -> str:
    """Return a program as JSON. Each frame and each stack is stored once."""
    stacks = StackNumbers()

    def block(of: Block) -> list[Any]:
        return [of.arguments, [op(each) for each in of.ops]]

    def op(of: Op) -> list[Any]:
        told = [getattr(of, name) for name in _OF_OP]
        return [*told, [block(inner) for inner in of.blocks], stacks[of.stack]]

    document = {
        "forward": block(program.forward),
        "backward": program.backward and block(program.backward),
        "values": program.values,
        "paths": program.paths,
        "gradients": [*program.gradients.items()],
        "sources": program.sources,
    }
    document |= stacks.document()
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def unpack(text: str) -> Program:
    """Return the program that :func:`pack` wrote.

    Raises
    ------
    ValueError, LookupError, TypeError
        If the text is not such a program.
    """
    document = json.loads(text)
    stacks = stacks_in(document)

    def block(of: list[Any]) -> Block:
        arguments, ops = of
        return Block([op(*each) for each in ops], arguments)

    def op(*row: Any) -> Op:
        told: dict[str, Any] = dict(zip(_OF_OP, row, strict=False))
        blocks, stack = row[len(_OF_OP) :]
        return Op(**told, blocks=[block(inner) for inner in blocks], stack=stacks[stack])

    return Program(
        block(document["forward"]),
        document["backward"] and block(document["backward"]),
        [_value(*row) for row in document["values"]],
        document["paths"],
        dict(document["gradients"]),
        [Source(*row) for row in document["sources"]],
    )


def _value(dtype: str, shape: list[int] | None, stops: bool, items: list[Any]) -> Value:  # noqa: FBT001
    of_list = tuple(_value(*item) for item in items)
    return Value(dtype, None if shape is None else tuple(shape), stops, of_list)
