"""Inputs for trying an export, and substitutes for eager values in a static run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np

_LARGEST_INDEX = 2


class Inputs:
    """Example inputs for an input specification.

    Parameters
    ----------
    paddle
        The paddle module.
    specification
        What ``paddle.jit.save`` takes as ``input_spec``.
    """

    def __init__(self, paddle: Any, specification: Sequence[Any]) -> None:
        self._paddle = paddle
        self._specification = list(specification)
        self._flat = paddle.utils.flatten(self._specification)
        self.dynamic = [
            (index, axis)
            for index, one in enumerate(self._flat)
            if isinstance(one, paddle.static.InputSpec)
            for axis, size in enumerate(one.shape)
            if size in (-1, None)
        ]
        """The open dimensions: which input, which axis."""

    def name(self, index: int) -> str:
        """Return the name of an input, or the input's number if it has no name."""
        return getattr(self._flat[index], "name", None) or str(index)

    def make(self, size: int, other: dict[tuple[int, int], int] | None = None) -> list[Any]:
        """Return inputs with one size in all open dimensions, except where ``other`` has a size."""
        numbers = np.random.default_rng(size)
        made = [
            self._one(numbers, one, [
                (other or {}).get((index, axis), size) if (index, axis) in self.dynamic else length
                for axis, length in enumerate(one.shape)
            ]) if isinstance(one, self._paddle.static.InputSpec) else one
            for index, one in enumerate(self._flat)
        ]  # fmt: skip
        packed: list[Any] = self._paddle.utils.pack_sequence_as(self._specification, made)
        return packed

    def _one(self, numbers: np.random.Generator, spec: Any, shape: list[int]) -> Any:
        kind = str(spec.dtype).rpartition(".")[2]
        if kind == "bool":
            return self._paddle.to_tensor(numbers.random(shape) < 0.5)
        if "int" in kind:
            array: np.ndarray[Any, Any] = numbers.integers(0, _LARGEST_INDEX, shape)
        else:
            array = numbers.random(shape)
        return self._paddle.to_tensor(array, dtype=kind)

    def arrays(self, inputs: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
        """Return the tensors among ``inputs`` as arrays."""
        return [one.numpy() for one in self._paddle.utils.flatten(list(inputs))
                if isinstance(one, self._paddle.Tensor)]  # fmt: skip


def stand_in(paddle: Any, value: Any, other: Any) -> Callable[[], Any]:
    """Return a function that makes a substitute for an eager value in a static run.

    Parameters
    ----------
    paddle
        The paddle module.
    value
        The eager value.
    other
        The value for inputs of another size. Dimensions with different values are left open.
    """
    if isinstance(value, paddle.Tensor):
        shape, dtype = list(value.shape), value.dtype
        sizes = list(other.shape) if isinstance(other, paddle.Tensor) else shape
        alike = len(sizes) == len(shape)
        is_open = [alike and one != size for one, size in zip(shape, sizes, strict=False)]
        return partial(_full, paddle, shape, is_open, dtype)
    if type(value) in (list, tuple):
        kind, others = type(value), other if type(other) is type(value) else value
        pairs = zip_longest(value, others[: len(value)])
        inner = [stand_in(paddle, one, another) for one, another in pairs]
        return lambda: kind([one() for one in inner])
    if type(value) is dict:
        others = other if type(other) is dict else {}
        items = {name: stand_in(paddle, one, others.get(name)) for name, one in value.items()}
        return lambda: {name: one() for name, one in items.items()}
    return lambda: value


def _full(paddle: Any, shape: list[int], is_open: list[bool], dtype: Any) -> Any:
    sizes = [
        paddle.full([1], size, "int64") if left_open else size
        for size, left_open in zip(shape, is_open, strict=False)
    ]
    return paddle.full(sizes, 1, dtype)
