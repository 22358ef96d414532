"""Notes calls of ops while they run, with what they need to run again."""

from __future__ import annotations

from threading import Lock
from typing import Any, Final, Protocol

import numpy as np

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.native import native_twin
from paddle_lab.capture.rows.address_table import AddressTable
from paddle_lab.capture.rows.cells import LARGEST_VERSION, NO_KEY, NO_VERSION, VERSION_BITS
from paddle_lab.capture.rows.object_table import ObjectTable
from paddle_lab.capture.rows.tape import Tape

TENSOR: Final = object()
"""Stands for each tensor among the arguments of a noted call."""


class Listener(Protocol):
    """Does the rare work of a :class:`CallTape`."""

    def hold(self, tensor: Any) -> int:
        """Hold a tensor that no noted op made, and return its new number."""

    def is_special(self, name: str) -> bool:
        """Tell whether an op needs :meth:`note_special` before it runs."""

    def note_special(
        self, at: int, name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None
    ) -> None:
        """Note what else an op needs, and copy the values that it will overwrite."""

    def note_returned(self, at: int, number: int, storage: int) -> None:
        """Note that a call returned one of its arguments."""

    def fail(self, fault: Exception) -> None:
        """Give up after a fault while a call was noted."""


@native_twin
class CallTape:
    """The noted calls of one trace, and the numbers of their tensors.

    Each tensor object gets a number. If the tensor's memory is written without an op that the trace
    sees, then the next read gives the tensor a new number, and its value is held again.

    Parameters
    ----------
    tensor_type
        ``paddle.Tensor``.
    array_type
        ``numpy.ndarray``. Such arguments are copied.
    mark
        :data:`TENSOR`.
    listener
        Does the rare work.
    """

    def __init__(
        self, tensor_type: type, array_type: type, mark: object, listener: Listener
    ) -> None:
        self._tensor_type, self._array_type, self._mark = tensor_type, array_type, mark
        self._listener = listener
        self._lock = Lock()
        self._storages: list[int] = []
        self.is_open = False
        """Whether calls are noted."""
        self.numbers = ObjectTable()
        """The number and the inplace version of each living tensor."""
        self.stale = AddressTable()
        """For each storage that was written without an op: the first number that is valid now."""
        self.objects: list[Any] = []
        """Four for each call: the function, its name, the arguments, the keyword arguments."""
        self.calls = Tape()
        """For each call: position in ``objects``, number of tensors; for each tensor its number,
        doubled, plus whether it stopped gradients."""
        self.results = Tape()
        """For each call that returned: the key of the op or -1, the position in ``calls`` or -1,
        whether it built a backward graph, number of tensors, the number of each tensor."""

    def begin(
        self, function: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None
    ) -> int:
        """Note a call that is about to run. Return its position in ``calls``."""
        reads: list[int] = []
        frozen = self._frozen(args, reads), self._frozen(kwargs or None, reads)
        with self._lock:
            at = len(self.calls)
            self.calls.extend((len(self.objects), len(reads), *reads))
            self.objects += (function, name, *frozen)
        if self._listener.is_special(name) or (kwargs and "out" in kwargs):
            self._listener.note_special(at, name, args, kwargs)
        return at

    def end(self, key: int, at: int, tensors: list[Any]) -> None:
        """Note what a call returned."""
        reads = {read >> 1 for read in self.calls.to_list(at + 2, at + 2 + self._reads(at))}
        builds_graph = False
        made = []
        for tensor in tensors:
            made.append(self._made(at, tensor, reads))
            builds_graph |= not tensor.stop_gradient and not tensor.is_leaf
        self.results.extend((key, at, builds_graph, len(made), *made))

    def take(self, storage: int) -> int:
        """Return a new number for a tensor with this storage, -1 for no storage."""
        with self._lock:
            self._storages.append(storage)
            return len(self._storages) - 1

    def storage_of(self, number: int) -> int:
        """Return the storage of the tensor with a number; -1 if it has none."""
        return self._storages[number]

    @property
    def taken(self) -> int:
        """How many numbers were taken."""
        return len(self._storages)

    def _reads(self, at: int) -> int:
        return self.calls.to_list(at + 1, at + 2)[0] if at >= 0 else 0

    def _frozen(self, value: Any, reads: list[int]) -> Any:
        if isinstance(value, self._tensor_type):
            number, stops = self._number(value), value.stop_gradient  # type: ignore[attr-defined]
            reads.append(number << 1 | stops)
            return self._mark
        kind = type(value)
        if kind is list or kind is tuple:
            return kind([self._frozen(one, reads) for one in value])
        if kind is dict:
            return {name: self._frozen(one, reads) for name, one in value.items()}
        return np.array(value) if isinstance(value, self._array_type) else value

    def _number(self, tensor: Any) -> int:
        packed = self.numbers.find(tensor)
        if packed >= 0 and packed & LARGEST_VERSION == version_of(tensor):
            number = packed >> VERSION_BITS
            if number >= self.stale.find(self._storages[number], 0):
                return number
        return self._listener.hold(tensor)

    def _made(self, at: int, tensor: Any, reads: set[int]) -> int:
        if not DOOR.is_initialized(tensor):
            return self.take(NO_KEY)
        is_dense = DOOR.is_dense(tensor)
        storage = tensor.data_ptr() - DOOR.storage_offset(tensor) if is_dense else NO_KEY
        packed = self.numbers.find(tensor)
        if packed >= 0 and self._storages[packed >> VERSION_BITS] == storage:
            number = packed >> VERSION_BITS
            if number in reads:
                self._listener.note_returned(at, number, storage)
        else:
            number = self.take(storage)
        self.numbers.note(tensor, number << VERSION_BITS | version_of(tensor))
        return number


def version_of(tensor: Any) -> int:
    """Return a tensor's inplace version, as :attr:`CallTape.numbers` has it."""
    is_dense = DOOR.is_dense(tensor)
    return DOOR.inplace_version(tensor) & LARGEST_VERSION if is_dense else NO_VERSION


def is_valid(tape: CallTape, number: int) -> bool:
    """Tell whether a tensor's memory was not written without an op since it got its number."""
    return number >= tape.stale.find(tape.storage_of(number), 0)


def new_call_tape(paddle: Any, listener: Listener) -> CallTape:
    """Return an empty tape."""
    return CallTape(paddle.Tensor, np.ndarray, TENSOR, listener)
