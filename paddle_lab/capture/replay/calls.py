"""The calls of a trace that can run again: functions, arguments, tensors they read and write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np


class Ref(NamedTuple):
    """Stands for an argument that is a tensor."""

    number: int
    stop_gradient: bool


@dataclass(slots=True)
class RecordedCall:
    """One call of an op, or of a backward function, with all that it needs to run again."""

    function: Callable[..., Any] | None
    """``None`` if the call cannot run again."""
    name: str
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] | None = None
    reads: list[int] = field(default_factory=list)
    """The numbers of the tensors among the arguments."""
    writes: list[int] = field(default_factory=list)
    """The storages that the call writes in place."""
    made: list[int] = field(default_factory=list)
    """The numbers of the returned tensors, in order."""
    random_states: list[Any] | None = None
    """The states of the random generators before the call, if the op may draw random numbers."""
    builds_graph: bool = False
    amp: Any = None
    """The state of automatic mixed precision, ``None`` if it was off."""
    next_op: int = 0
    """The key that the next op would get, when the call began."""


Number = Callable[[Any], int]


def frozen(value: Any, number: Number, tensor_type: type, reads: list[int]) -> Any:
    """Return a copy of an argument in which a :class:`Ref` stands for each tensor.

    Parameters
    ----------
    number
        Returns the number of a tensor.
    reads
        The numbers of the tensors are appended to this list.
    """
    if isinstance(value, tensor_type):
        key = number(value)
        reads.append(key)
        return Ref(key, value.stop_gradient)  # type: ignore[attr-defined]
    kind = type(value)
    if kind is list or kind is tuple:
        return kind([frozen(one, number, tensor_type, reads) for one in value])
    if kind is dict:
        return {name: frozen(one, number, tensor_type, reads) for name, one in value.items()}
    return value.copy() if isinstance(value, np.ndarray) else value


def thawed(value: Any, tensor_of: Callable[[Ref], Any]) -> Any:
    """Return a copy of an argument in which each :class:`Ref` is replaced by its tensor."""
    kind = type(value)
    if kind is Ref:
        return tensor_of(value)
    if kind is list or kind is tuple:
        return kind([thawed(one, tensor_of) for one in value])
    if kind is dict:
        return {name: thawed(one, tensor_of) for name, one in value.items()}
    return value


def tensors_in(result: Any, tensor_type: type) -> Iterator[Any]:
    """Yield the tensors of an op's result, in order."""
    if isinstance(result, tensor_type):
        yield result
    elif isinstance(result, (list, tuple)):
        for one in result:
            yield from tensors_in(one, tensor_type)
