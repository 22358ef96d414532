"""Where tensors are stored, and which tensors the user's calls copied or received."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import compress
from operator import itemgetter
from time import perf_counter_ns
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.memory.log.events import CPU
from paddle_lab.capture.native import native_twin
from paddle_lab.capture.recorder.layers import LayerPool
from paddle_lab.capture.recorder.recorder import Recorder
from paddle_lab.capture.recorder.tensors import TensorPool
from paddle_lab.capture.rows.cells import NO_KEY

if TYPE_CHECKING:
    from paddle_lab.capture.limit.kept_ops import KeptOps
    from paddle_lab.capture.tables.row_keys import RecordKeys


class Storage(NamedTuple):
    """The block of a tensor at one moment."""

    tensor: int
    """The recorder's key of the tensor's row."""
    address: int
    bytes: int
    """The size of the whole block, of which the tensor may be a part."""
    time_ns: int
    """On the clock of ``perf_counter_ns``."""
    place: str
    """The place's name in allocator events."""


_Row = tuple[int, int, int, int]
"""The fields of a :class:`Storage` without its place."""


class StorageNotes:
    """Storages of tensors that no op of the trace made: parameters, data, older tensors.

    Outputs of ops are not noted, because their blocks are allocated while the op runs.

    Parameters
    ----------
    pool
        The tensors of a trace. From now on each new tensor that no op made is noted.
    """

    def __init__(self, pool: TensorPool) -> None:
        self._pool = pool
        self._rows: list[_Row] = []
        self._met: list[Storage] = []
        # The native part finds the methods of tensors when ops are recorded.
        is_plain = DOOR.has("ops") and not pool.reads_place
        self._listener = partial(note_storage, self._rows) if is_plain else self._note

    @property
    def met(self) -> list[Storage]:
        """The storages that were noted so far."""
        end = len(self._rows)  # another thread may add rows
        self._met += (Storage(*row, CPU) for row in self._rows[:end])
        del self._rows[:end]
        return self._met

    def open(self) -> None:
        """Begin to note storages."""
        self._pool.meeting_listeners.append(self._listener)

    def close(self) -> None:
        """Stop noting storages."""
        if self._listener in self._pool.meeting_listeners:
            self._pool.meeting_listeners.remove(self._listener)

    def living(self) -> tuple[list[Storage], list[Storage]]:
        """Return the storages of all tensors of the trace that are still alive.

        Returns
        -------
        tensors, gradients
            The storages of tensors, and of the gradients of leaves, which have the leaf's key.
        """
        tensors, gradients = [], []
        # The pool sorts tensors by address, and addresses vary between processes.
        for tensor, key in sorted(self._pool.living(), key=itemgetter(1)):
            tensors.append(self._storage(tensor, key))
            gradient = None if tensor.stop_gradient or not tensor.is_leaf else tensor.grad
            if gradient is not None:
                gradients.append(self._storage(gradient, key))
        return [one for one in tensors if one], [one for one in gradients if one]

    def living_buffers(self, layers: LayerPool) -> list[int]:
        """Return the tensors that are buffers of layers, persistable or not."""
        held = [
            self._pool.known_key(buffer)
            for layer, _ in layers.known.living()
            for buffer in DOOR.layer_buffers(layer).values()
            if buffer is not None
        ]
        return [key for key in held if key != NO_KEY]

    def _note(self, tensor: Any, key: int) -> None:
        storage = self._storage(tensor, key)
        if storage is not None:
            self._met.append(storage)

    def _storage(self, tensor: Any, key: int) -> Storage | None:
        base = _address(tensor)
        if not base:
            return None
        place = str(tensor.place) if self._pool.reads_place else CPU
        return Storage(key, base, DOOR.storage_bytes(tensor), perf_counter_ns(), place)


@native_twin
def note_storage(rows: list[_Row], tensor: Any, key: int) -> None:
    """Add a storage in the host's memory, without its place, if the tensor has one block."""
    address = _address(tensor)
    if address:
        rows.append((key, address, DOOR.storage_bytes(tensor), perf_counter_ns()))


def storage_address(tensor: Any) -> int:
    """Return the address of the block in which a tensor is stored, 0 for none."""
    return _address(tensor) if DOOR.has("storages") else 0


def _address(tensor: Any) -> int:
    # Undefined tensors have no address; sparse ones have several blocks or return 0.
    if not DOOR.is_initialized(tensor) or not DOOR.is_dense(tensor):
        return 0
    address: int = tensor.data_ptr()
    return address - DOOR.storage_offset(tensor) if address else 0


class Handover(NamedTuple):
    """A call that copied a tensor, or that received a tensor made by other code."""

    start_ns: int
    """The time, by ``perf_counter_ns``."""
    end_ns: int
    thread: int
    address: int
    """The address of the received tensor; 0 for a copy."""
    scope: int
    stack: int
    """The recorder's key of the stack."""
    phase: int
    tensor: int
    """The row of the copied tensor; -1 if the trace has not seen the tensor."""


class Handovers:
    """The copies and arrivals that one trace has noted.

    Parameters
    ----------
    recorder
        The trace's recorder.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.noted: list[Handover] = []

    def note_copy(self, source: Any, frame: FrameType, start_ns: int, end_ns: int) -> None:
        """Note that ``frame`` has copied ``source``: a copy allocates but is not an op."""
        tensor = self._recorder.tensors.known_key(source)
        self._note(frame, start_ns, end_ns, tensor=tensor)

    def note_arrivals(self, tensors: Iterable[Any], frame: FrameType) -> None:
        """Note that ``frame`` has received tensors that other code made."""
        time_ns = perf_counter_ns()
        for address in filter(None, map(storage_address, tensors)):
            self._note(frame, time_ns, time_ns, address=address)

    def _note(
        self, frame: FrameType, start_ns: int, end_ns: int, *, address: int = 0, tensor: int = -1
    ) -> None:
        state = self._recorder.thread()
        stack = self._recorder.stacks.take(frame, state.anchor, state.anchor_stack)
        place = (state.scope, stack, state.phase)
        self.noted.append(Handover(start_ns, end_ns, state.number, address, *place, tensor))

    def forget(self, kept: KeptOps) -> None:
        """Forget the copies and arrivals at times whose ops the trace does not keep."""
        is_kept = kept.has_time(one.start_ns for one in self.noted)
        self.noted = list(compress(self.noted, is_kept))

    def name_rows(self, keys: RecordKeys, stack_row: Callable[[int], int]) -> None:
        """Replace the recorder's keys of tensors, scopes and stacks by rows of the record."""
        self.noted = [
            one._replace(
                tensor=keys.tensors.row(one.tensor),
                scope=keys.scopes.row(one.scope),
                stack=stack_row(one.stack),
            )
            for one in self.noted
        ]
