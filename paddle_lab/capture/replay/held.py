"""Holds the tensors that a trace began with, so that their values can be read later.

A held tensor first shares the memory of the user's tensor. The memory is copied just before
something writes into it, or else at the end of the trace.
"""

from __future__ import annotations

import inspect
import math
import time
from dataclasses import dataclass
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.words import Text


@dataclass(slots=True)
class Held:
    """A tensor that no recorded op made, with the value that the trace first read."""

    tensor: Any
    """A tensor that shares the user's memory, or a copy; ``None`` if the value is lost."""
    start: int
    """The address of the first byte."""
    size_bytes: int
    has_history: bool
    """Whether the tensor already had a backward graph, which the trace did not see."""
    is_copy: bool = False
    """Whether the value does not share the user's memory any more."""
    lost: Text | None = None
    """Why the value is lost."""
    unwritten: tuple[tuple[int, ...], Any] | None = None
    """The shape and dtype of a tensor that had no memory yet, because an op was to write it."""

    def lose(self, why: Text) -> None:
        """Release the value, and remember why."""
        self.tensor, self.lost, self.is_copy = None, why, True

    def meets(self, start: int, size_bytes: int) -> bool:
        """Tell whether the tensor shares memory with a range of bytes."""
        return self.start < start + size_bytes and start < self.start + self.size_bytes


class HeldTensors:
    """All held tensors of one trace.

    Parameters
    ----------
    paddle
        The paddle module, before hooks are installed.
    limit_bytes
        How many bytes may be held.
    """

    def __init__(self, paddle: Any, limit_bytes: int) -> None:
        self._detach = inspect.unwrap(paddle.Tensor.detach)
        self._copy_into = inspect.unwrap(paddle.Tensor.copy_)
        self._copied = inspect.unwrap(DOOR.copy_to)
        self._limit_bytes = limit_bytes
        self.by_number: dict[int, Held] = {}
        self.size_bytes = 0
        self.copying_s = 0.0
        """How long the program waited for copies."""
        self._sharing: dict[int, list[Held]] = {}
        """By storage: the held tensors that still share the user's memory."""
        self._spare: dict[Any, list[Any]] = {}
        """Copies of an older trace: new memory would cost more than the copying."""

    def held(self, tensor: Any, *, copies: bool = False) -> tuple[int, Held]:
        """Hold a tensor. Return its storage (-1 if it has none) and the held tensor.

        Parameters
        ----------
        copies
            Whether to copy the tensor at once.
        """
        if not DOOR.is_initialized(tensor) or not DOOR.is_dense(tensor):
            held = Held(None, 0, 0, has_history=False)
            if DOOR.is_initialized(tensor):
                held.lost = Text("replay.not_dense")
            else:
                held.unwritten = tuple(tensor.shape), tensor.dtype
            return -1, held
        storage, start, size_bytes = span_of(tensor)
        has_history = not tensor.stop_gradient and not tensor.is_leaf
        held = Held(None, start, size_bytes, has_history)
        if self.size_bytes + size_bytes > self._limit_bytes:
            held.lost = Text("replay.limit")
            return storage, held
        self.size_bytes += size_bytes
        held.tensor = self._detach(tensor)
        if copies:
            self._copy(held)
            return storage, held
        self._sharing.setdefault(storage, []).append(held)
        return storage, held

    def keep_before_write(self, tensor: Any, storage: int, own: Held | None) -> bool:
        """Copy the values that a write will change. Tell whether any of them are not ``own``."""
        sharing = self._sharing.get(storage)
        if not sharing:
            return False
        _, start, size_bytes = span_of(tensor)
        met = [held for held in sharing if held.meets(start, size_bytes)]
        for held in met:
            self._copy(held)
        self._sharing[storage] = [held for held in sharing if not held.is_copy]
        return any(held is not own for held in met)

    def lose(self, number: int, why: Text) -> None:
        """Release a value that is not copied yet."""
        held = self.by_number.get(number)
        if held is not None and not held.is_copy:
            held.lose(why)

    def keep_all(self) -> None:
        """Copy all values that the user's code may still change."""
        for sharing in self._sharing.values():
            for held in sharing:
                self._copy(held)
        self._sharing.clear()
        self._spare.clear()

    def take_over(self, older: HeldTensors) -> None:
        """Use the memory of an older trace's copies for new ones."""
        for held in older.by_number.values():
            if held.tensor is not None:
                self._spare.setdefault(_kind_of(held.tensor), []).append(held.tensor)

    def _copy(self, held: Held) -> None:
        if held.is_copy:
            return
        held.is_copy = True
        began = time.perf_counter()
        try:
            held.tensor = self._copy_of(held.tensor)
        except (MemoryError, RuntimeError):  # Paddle's out-of-memory errors are RuntimeErrors
            held.lose(Text("replay.no_memory"))
        self.copying_s += time.perf_counter() - began

    def _copy_of(self, tensor: Any) -> Any:
        try:
            copy = self._spare[_kind_of(tensor)].pop()
        except LookupError:
            return self._copied(tensor, tensor.place, True)  # noqa: FBT003
        self._copy_into(copy, tensor, True)  # noqa: FBT003
        return copy


def _kind_of(tensor: Any) -> Any:
    return str(tensor.place), tensor.dtype, *tensor.shape, *tensor.strides


def span_of(tensor: Any) -> tuple[int, int, int]:
    """Return the storage (the address of its block), the first byte, and the size of a tensor.

    For a tensor that is not contiguous, the first byte and the size are those of the whole block.
    """
    start = tensor.data_ptr()
    storage = start - DOOR.storage_offset(tensor)
    if tensor.is_contiguous():
        return storage, start, math.prod(tensor.shape) * tensor.element_size()
    return storage, storage, DOOR.storage_bytes(tensor)
