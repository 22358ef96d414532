"""Numbers the values of tensors in an open trace, and holds those that no op made."""

from __future__ import annotations

from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.replay.calls import RecordedCall, tensors_in
from paddle_lab.capture.replay.held import HeldTensors, span_of
from paddle_lab.capture.rows.cells import LARGEST_VERSION, VERSION_BITS
from paddle_lab.capture.rows.object_table import ObjectTable
from paddle_lab.words import Text


class NumberedTensors:
    """The tensors of one trace.

    Each tensor object gets a number. If the tensor's memory is written without an op that the trace
    sees, then the next read gives the tensor a new number, and its value is held again.

    Parameters
    ----------
    paddle
        The paddle module.
    limit_bytes
        How many bytes of tensors may be held.
    """

    def __init__(self, paddle: Any, limit_bytes: int) -> None:
        self._type = paddle.Tensor
        self.held = HeldTensors(paddle, limit_bytes)
        self.storage_of: dict[int, int] = {}
        self.numbers = ObjectTable()
        """The number and the inplace version of each living tensor."""
        self._next_number = 0
        self._stale: dict[int, int] = {}
        """For each storage that was written without an op: the first number that is valid now."""

    def close(self) -> None:
        """Copy what the user's code may still change."""
        self._stale.clear()
        self.held.keep_all()

    def drop(self) -> None:
        """Drop all held tensors."""
        self.storage_of = {}
        self.held.by_number.clear()

    def made(self, call: RecordedCall, tensor: Any) -> int:
        """Return the number of a tensor that an op returned."""
        if not DOOR.is_initialized(tensor) or not DOOR.is_dense(tensor):
            return self._take_number(-1)
        packed = self.numbers.find(tensor)
        storage = tensor.data_ptr() - DOOR.storage_offset(tensor)
        if packed >= 0 and self.storage_of[packed >> VERSION_BITS] == storage:
            number = packed >> VERSION_BITS
            if number in call.reads and storage not in call.writes:
                self._lose(call, number, storage)
        else:
            number = self._take_number(storage)
        version = DOOR.inplace_version(tensor) & LARGEST_VERSION
        self.numbers.note(tensor, number << VERSION_BITS | version)
        if not tensor.stop_gradient and not tensor.is_leaf:
            call.builds_graph = True
        return number

    def renew(self, call: RecordedCall) -> None:
        """Note the new versions of the arguments that an op without a result has written."""
        written = set(call.writes)
        for tensor, packed in self._recent(call.reads):
            if self.storage_of[packed >> VERSION_BITS] in written:
                version = DOOR.inplace_version(tensor) & LARGEST_VERSION
                self.numbers.note(tensor, packed >> VERSION_BITS << VERSION_BITS | version)

    def _recent(self, numbers: list[int]) -> list[tuple[Any, int]]:
        wanted = set(numbers)
        return [
            (tensor, packed)
            for tensor, packed in self.numbers.living()
            if packed >> VERSION_BITS in wanted
        ]

    def _lose(self, call: RecordedCall, number: int, storage: int) -> None:
        """Note that an op returned one of its arguments, and may have written into the argument."""
        call.writes.append(storage)
        held = self.held.by_number.get(number)
        if held is not None and not held.is_copy:
            held.tensor, held.lost = None, Text("replay.unknown_write", op=call.name)

    def number(self, tensor: Any) -> int:
        """Return the number of a tensor. If the value is new, take a number and hold the value."""
        packed = self.numbers.find(tensor)
        if packed >= 0 and DOOR.inplace_version(tensor) & LARGEST_VERSION == (
            packed & LARGEST_VERSION
        ):
            number = packed >> VERSION_BITS
            if not self._stale or number >= self._stale.get(self.storage_of[number], 0):
                return int(number)
        number = self._take_number(-1)
        self.storage_of[number] = self.held.hold(number, tensor)
        if self.held.by_number[number].size_bytes:
            version = DOOR.inplace_version(tensor) & LARGEST_VERSION
            self.numbers.note(tensor, number << VERSION_BITS | version)
        return number

    def _take_number(self, storage: int) -> int:
        number, self._next_number = self._next_number, self._next_number + 1
        self.storage_of[number] = storage
        return number

    def keep(self, call: RecordedCall, written: Any) -> None:
        """Copy the values that an op overwrites in an argument."""
        for tensor in tensors_in(written, self._type):
            if not DOOR.is_initialized(tensor) or not DOOR.is_dense(tensor):
                continue
            storage, start, size_bytes = span_of(tensor)
            call.writes.append(storage)
            own = self.held.by_number.get(self.numbers.find(tensor) >> VERSION_BITS)
            if self.held.keep_before_write(storage, start, size_bytes, own):
                # The write also changes other tensors. A replay on copies would not repeat that.
                self._stale[storage] = self._next_number

    def keep_unseen(self, tensor: Any) -> None:
        """Copy values that are about to be overwritten without an op."""
        if DOOR.is_initialized(tensor) and DOOR.is_dense(tensor):
            storage, start, size_bytes = span_of(tensor)
            self.held.keep_before_write(storage, start, size_bytes, None)
            self._stale[storage] = self._next_number
