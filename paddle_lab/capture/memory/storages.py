"""The memory in which the tensors of a trace are stored."""

from __future__ import annotations

from operator import itemgetter
from time import perf_counter_ns
from typing import Any, NamedTuple

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.memory.log.places import CPU
from paddle_lab.capture.recorder.layers import LayerPool
from paddle_lab.capture.recorder.tensors import TensorPool
from paddle_lab.capture.rows.cells import NO_KEY


class Storage(NamedTuple):
    """The block behind a tensor, at one moment."""

    tensor: int
    """The recorder's key of the tensor's row."""
    address: int
    bytes: int
    """The size of the whole block; the tensor may be a part of it."""
    time_ns: int
    """On the clock of ``perf_counter_ns``."""
    place: str
    """The place's name in allocator events."""


class StorageNotes:
    """Storages of tensors that no op of the trace made: parameters, data, older tensors.

    An op's output needs no note: its block is allocated while the op runs.

    Parameters
    ----------
    pool
        The tensors of a trace; from now on each new one that no op made is noted.
    """

    def __init__(self, pool: TensorPool) -> None:
        self.met: list[Storage] = []
        self._pool = pool

    def open(self) -> None:
        """Begin to note storages."""
        self._pool.meeting_listeners.append(self._note)

    def close(self) -> None:
        """Stop noting storages."""
        if self._note in self._pool.meeting_listeners:
            self._pool.meeting_listeners.remove(self._note)

    def living(self) -> tuple[list[Storage], list[Storage]]:
        """Return the storages of all tensors of the trace that are still alive.

        Returns
        -------
        tensors, gradients
            The gradients that living leaves hold have the keys of the leaves.
        """
        tensors, gradients = [], []
        # The pool orders them by address, which varies between processes.
        for tensor, key in sorted(self._pool.living(), key=itemgetter(1)):
            tensors.append(self._storage(tensor, key))
            gradient = None if tensor.stop_gradient or not tensor.is_leaf else tensor.grad
            if gradient is not None:
                gradients.append(self._storage(gradient, key))
        return [one for one in tensors if one], [one for one in gradients if one]

    def living_buffers(self, layers: LayerPool) -> list[int]:
        """Return the tensors that layers hold as buffers, whether or not they are persistable."""
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
            self.met.append(storage)

    def _storage(self, tensor: Any, key: int) -> Storage | None:
        base = storage_address(tensor)
        if not base:
            return None
        place = str(tensor.place) if self._pool.reads_place else CPU
        return Storage(key, base, DOOR.storage_bytes(tensor), perf_counter_ns(), place)


def storage_address(tensor: Any) -> int:
    """Return the address of the block that a tensor is stored in, 0 for none."""
    # Undefined tensors have no address; sparse ones have several blocks or return 0.
    if not DOOR.has("storages") or not DOOR.is_initialized(tensor) or not DOOR.is_dense(tensor):
        return 0
    address: int = tensor.data_ptr()
    return address - DOOR.storage_offset(tensor) if address else 0
