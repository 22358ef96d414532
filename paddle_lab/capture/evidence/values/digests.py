"""Digests of the outputs of all ops, which compare two runs without keeping tensors."""

from __future__ import annotations

import ctypes
import hashlib
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_lab.capture.backward_graph.graphs import flat
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.collector import Collector, Forgotten
from paddle_lab.capture.rows.cells import NO_KEY
from paddle_lab.capture.tables.row_keys import RecordKeys
from paddle_lab.trace.table import StringPool, TableBuilder

if TYPE_CHECKING:
    from paddle_lab.capture.recorder.recorder import Recorder

Digest = bytes
UNKNOWN: Digest = b""
"""The digest of an unreadable tensor. It always equals itself, so no difference is found."""

_DIGEST_BYTES = 8


class Digests(Collector):
    """Computes the digests for a rerun. It fills no table, because two runs must be compared.

    Parameters
    ----------
    recorder
        The recorder that reports the outputs of ops.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._tensor_type = recorder.tensor_type
        self._next: Any = None
        self._by_key: list[tuple[int, tuple[Digest, ...]]] = []
        self.outputs: dict[int, tuple[Digest, ...]] = {}
        """Maps a row of ``ops`` to the digests of the op's outputs, in order."""
        self.met: dict[int, Digest] = {}
        """Maps a row of ``tensors`` that no op made, such as data or parameters, to the digest."""
        self.hooked: set[int] = set()
        """The ids of tensors whose gradient hooks changed, which no second run can undo."""
        has_hooks = DOOR.has("gradients") and DOOR.has("reruns")
        names = ("register_grad_hook", "remove_grad_hook", "register_void_hook")
        self._patches = [DOOR.patch(name, self._noting) for name in names if has_hooks]

    def open(self) -> None:
        """Start to compute digests of outputs. The previous ``on_op`` is called first."""
        self._next = self._recorder.on_op
        self._recorder.on_op = self._on_op
        self._recorder.tensors.meeting_listeners.append(self._on_met)
        for patch in self._patches:
            patch.apply()

    def close(self) -> None:
        """Stop computing digests."""
        for patch in self._patches:
            patch.revert()
        self._recorder.on_op = None
        listeners = self._recorder.tensors.meeting_listeners
        if self._on_met in listeners:
            listeners.remove(self._on_met)

    def _noting(self, change: Callable[..., Any]) -> Callable[..., Any]:
        def noted(tensor: Any, *args: Any) -> Any:
            self.hooked.add(id(tensor))
            return change(tensor, *args)

        return noted

    def _on_op(self, op: int, result: Any) -> None:
        if self._next is not None:
            self._next(op, result)
        made = [value for value in flat(result) if isinstance(value, self._tensor_type)]
        self._by_key.append((op, tuple(digest_of(tensor) for tensor in made)))

    def _on_met(self, tensor: Any, key: int) -> None:
        if key != NO_KEY:
            self.met[key] = digest_of(tensor)

    def forget(self, gone: Forgotten) -> None:
        """Drop ops and tensors."""
        self._by_key = [row for row in self._by_key if row[0] not in gone.ops]
        for tensor in gone.tensors.intersection(self.met):
            del self.met[tensor]

    def add_rows(
        self, _builders: dict[str, TableBuilder], _strings: StringPool, keys: RecordKeys
    ) -> None:
        """Replace the keys of ops by rows."""
        rows = keys.ops.rows(np.array([key for key, _ in self._by_key], np.int64)).tolist()
        self.outputs = {
            row: digests for row, (_, digests) in zip(rows, self._by_key, strict=True) if row >= 0
        }


def digest_of(tensor: Any) -> Digest:
    """Return a 64-bit digest of a tensor's bytes, shape and dtype.

    Undefined tensors are never read, because that would kill the process.
    """
    if not DOOR.is_initialized(tensor) or not DOOR.is_dense(tensor):
        return UNKNOWN
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    digest.update(f"{tensor.dtype}{tensor.shape}".encode())
    if tensor.place.is_cpu_place() and tensor.is_contiguous():
        count = math.prod(tensor.shape) * tensor.element_size()
        if count:
            digest.update((ctypes.c_char * count).from_address(tensor.data_ptr()))
    else:
        # Call Paddle's original method. The hook around it would record a read by the user.
        numpy = type(tensor).numpy
        digest.update(getattr(numpy, "__wrapped__", numpy)(tensor).tobytes())
    return digest.digest()
