"""A static program: ops in blocks, the values that they pass on, and the line of each op."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from paddle_lab.trace.row_writer import Frame

_CONSTANTS: Final = {
    "pd_op.full",
    "pd_op.full_int_array",
    "pd_op.assign_value",
    "builtin.constant",
    "builtin.constant_tensor",
}
_DATA: Final = {"pd_op.data", "pd_op.feed", "builtin.parameter"}
_OUTPUTS: Final = {"pd_op.fetch"}
_LISTS: Final = {"builtin.combine", "builtin.split", "builtin.slice"}


Stack = tuple[Frame, ...]
"""Innermost frame first."""


class Source(NamedTuple):
    """The text of a file, beginning at ``first_line``."""

    file: str
    first_line: int
    text: str
    cell: int = -1


class Value(NamedTuple):
    """An output of an op, or an argument of a block: a tensor, or a list of tensors."""

    dtype: str = ""
    shape: tuple[int, ...] | None = None
    """``-1``: a size that is not known before the program runs."""
    stop_gradient: bool = True
    items: tuple[Value, ...] = ()
    """The tensors of a list."""


@lru_cache(maxsize=1024)
def computes(name: str) -> bool:
    """Tell from an op's name whether it computes. Constants, inputs and lists do not."""
    return not (name.startswith(("builtin.", "cf.")) or name in _CONSTANTS | _DATA | _OUTPUTS)


@dataclass(slots=True)
class Op:
    """An op of the program. Parameters, constants, inputs and outputs are also ops."""

    name: str
    """The name with its dialect: ``"pd_op.matmul"``."""
    inputs: list[int]
    """Keys of values; -1 for an optional input that is missing."""
    outputs: list[int]
    attributes: dict[str, str] = field(default_factory=dict)
    """Names and values as readable text: ``{"axis": "1"}``."""
    label: str = ""
    """The name of a parameter, an input or an output; the value of a constant."""
    layer: str = ""
    """Paddle's name of the layer call, ``"/Block/Linear_1/"``."""
    is_trainable: bool = True
    blocks: list[Block] = field(default_factory=list)
    stack: Stack = ()

    @property
    def short_name(self) -> str:
        """The name without its dialect."""
        return self.name.rpartition(".")[2]

    @property
    def computes(self) -> bool:
        """Whether the op is a node of the graph: see :func:`computes`."""
        return computes(self.name)

    @property
    def is_list(self) -> bool:
        """Whether the op only makes a list of values or unpacks a list."""
        return self.name in _LISTS

    @property
    def is_parameter(self) -> bool:
        """Whether the op represents a parameter or a buffer of the model."""
        return self.name == "builtin.parameter"


@dataclass
class Block:
    """Ops that run one after the other, and the arguments of the block."""

    ops: list[Op] = field(default_factory=list)
    arguments: list[int] = field(default_factory=list)

    @property
    def results(self) -> list[int]:
        """The values that the block returns to the op that contains it."""
        return [key for op in self.ops if op.name == "cf.yield" for key in op.inputs]

    def walk(self) -> Iterator[Op]:
        """Yield each op, and after it the ops of its blocks."""
        waiting = [iter(self.ops)]
        while waiting:
            op = next(waiting[-1], None)
            if op is None:
                waiting.pop()
                continue
            yield op
            waiting += [iter(block.ops) for block in reversed(op.blocks)]


@dataclass
class Program:
    """A program, and the program of its gradients if that is a separate program."""

    forward: Block
    backward: Block | None = None
    values: list[Value] = field(default_factory=list)
    """The values, by key. Both programs share this list."""
    paths: dict[str, str] = field(default_factory=dict)
    """Maps Paddle's name of a parameter to the path in the model, ``"encoder.0.weight"``."""
    gradients: dict[int, int] = field(default_factory=dict)
    """Maps a gradient in the backward to the parameter or input to which it belongs."""
    sources: list[Source] = field(default_factory=list)
