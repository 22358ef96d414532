"""A call of an op, with all that a formula needs: name, shapes, dtypes and attributes."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

Shape = tuple[int, ...]

_NAMED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


class Operand(NamedTuple):
    """A tensor that a call read or made.

    Attributes
    ----------
    slot
        For an input, its argument position; all tensors of a list have the same position. For an
        output, its number.
    lives_on
        Whether the tensor is a parameter or a buffer, which stays in memory after the call.
    repeats
        Whether this is the same tensor as the previous one, as in ``x * x``.
    """

    slot: int
    shape: Shape
    dtype: str
    bytes: int
    needs_grad: bool
    lives_on: bool
    repeats: bool


@dataclass(frozen=True)
class Call:
    """A call of an op.

    Attributes
    ----------
    read, made
        The inputs and the outputs of the call.
    attributes
        The text of the arguments that are not tensors.
    """

    name: str
    read: tuple[Operand, ...]
    made: tuple[Operand, ...]
    attributes: str = field(default="", repr=False)

    @cached_property
    def shapes(self) -> list[Shape]:
        """The shapes of all inputs, in order."""
        return [one.shape for one in self.read]

    @cached_property
    def outputs(self) -> list[Shape]:
        """The shapes of all outputs, in order."""
        return [one.shape for one in self.made]

    @property
    def is_complex(self) -> bool:
        """Whether the call read or made complex numbers."""
        return any(one.dtype.startswith("complex") for one in (*self.read, *self.made))

    def listed(self, slot: int) -> list[Shape]:
        """Return the shapes of the tensors at an argument position."""
        return [one.shape for one in self.read if one.slot == slot]

    def elements(self, slot: int) -> int:
        """Return how many elements the tensors at an argument position have, 0 without tensors."""
        return sum(map(prod, self.listed(slot)))

    @property
    def out(self) -> int:
        """The number of elements of the first output."""
        return prod(self.outputs[0])

    @cached_property
    def _named(self) -> dict[str, Any]:
        """The attributes that have a name. A value that Python cannot parse stays text."""
        named = filter(None, map(_NAMED.fullmatch, argument_texts(self.attributes)))
        return {match[1]: _value(match[2]) for match in named}

    def attribute(self, name: str, default: Any = None) -> Any:
        """Return the value of a named attribute."""
        return self._named.get(name, default)


def is_open(*shapes: Shape) -> bool:
    """Tell whether a shape has an unknown extent, as in saved programs: ``[-1, 3, 224, 224]``."""
    return any(extent < 0 for shape in shapes for extent in shape)


def argument_texts(text: str) -> list[str]:
    """Split the text of arguments at commas that are outside of brackets and quotes."""
    parts, depth, quote, start = [], 0, "", 0
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    return [*parts, text[start:].strip()] if text[start:].strip() else parts


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
