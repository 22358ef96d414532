"""Which tensor is which: from Python objects to rows of the ``tensors`` table.

A row is a *value*. The same object modified in place becomes a new row, linked to the one before;
so "who made what this op read?" has one answer. Objects are known by ``id`` with a weak reference
that guards against reuse: nothing is kept alive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.grad_fn import GRAD_FN
from paddle_lab.capture.rows.cells import (
    LARGEST_VERSION,
    NO_KEY,
    NO_VERSION,
    VERSION_BITS,
)
from paddle_lab.capture.rows.counter import Counter
from paddle_lab.capture.rows.lineage import Lineage
from paddle_lab.capture.rows.object_table import ObjectTable
from paddle_lab.capture.rows.tape import Tape
from paddle_lab.trace.schema import TENSOR_KINDS

ACTIVATION = TENSOR_KINDS.index("activation")
PARAMETER = TENSOR_KINDS.index("parameter")
BUFFER = TENSOR_KINDS.index("buffer")
GRADIENT = TENSOR_KINDS.index("gradient")
EXTERNAL = TENSOR_KINDS.index("external")


class TensorPool:
    """The tensors a trace has met.

    Parameters
    ----------
    parameter_type
        Paddle's parameter class.
    ops
        The ops that make them: see :attr:`Recorder.ops`.
    reads_place
        Whether to ask each tensor for its place; on a CPU build there is but one answer.
    """

    def __init__(self, parameter_type: type, ops: Tape, *, reads_place: bool) -> None:
        self.rows = Tape()
        """Rows of :class:`TensorCell`."""
        self.shapes: dict[tuple[int, ...], int] = {(): 0}
        self.dtypes: dict[Any, int] = {}
        self.places: dict[Any, int] = {None: 0}
        self.names: dict[str, int] = {"": 0}
        self.lineage = Lineage(ops, self.rows)
        self.known = ObjectTable()
        """Tensors and their latest rows with the versions they had: see :func:`packed`."""
        self._parameter_type = parameter_type
        self.reads_place = reads_place
        self.reads_grad_nodes = DOOR.has("backward")
        self.meeting_listeners: list[Callable[[Any, int], None]] = []
        """Called with each tensor that the trace meets without having seen an op make it."""
        self.change_listeners: list[Callable[[Any, int], None]] = []
        """Called with each known tensor that something else than an op has written to."""
        self.next_key = Counter()

    def key_of(self, tensor: Any) -> int:
        """Return the row of ``tensor``'s present value, making one where the trace has none."""
        row = self.known.find(tensor)
        if row == NO_KEY:
            return self._meet(tensor, NO_KEY)
        key: int = row >> VERSION_BITS
        # Modified by something that is no op: set_value, an optimizer in C++, another thread.
        return self._meet(tensor, key) if _is_old(row, tensor) else key

    def known_key(self, tensor: Any) -> int:
        """Return the latest row of ``tensor``, or -1; never makes one."""
        row: int = self.known.find(tensor)
        return NO_KEY if row == NO_KEY else row >> VERSION_BITS

    def is_modified(self, tensor: Any) -> bool:
        """Tell whether ``tensor`` was modified in place since its latest row."""
        row = self.known.find(tensor)
        return row != NO_KEY and _is_old(row, tensor)

    def produce(
        self, tensor: Any, op: int, *, kind: int = ACTIVATION, detached_from: int = NO_KEY
    ) -> int:
        """Make a row for what ``op`` just wrote into ``tensor``.

        An op may hand back the very tensor it was given: then the new row follows the old one.
        """
        previous = self.known_key(tensor)
        name = ""
        # A new parameter is first met as what its initializer writes to.
        is_parameter = isinstance(tensor, self._parameter_type)
        if is_parameter or (previous != NO_KEY and tensor.persistable):
            kind = PARAMETER if is_parameter else BUFFER
            name = tensor.name
        return self._add_row(tensor, kind, op, previous, detached_from, name)

    def grad_address(self, key: int) -> int | None:
        """Return the address of the grad node that a row came with; leaves have none."""
        return self.lineage.grad_address(key) or None

    def detach(self, tensor: Any, result: Any) -> None:
        """Make a row for what ``tensor.detach()`` returned."""
        self.produce(result, NO_KEY, detached_from=self.key_of(tensor))

    def alias(self, tensor: Any, source: Any) -> None:
        """Let ``tensor``, another object for the very value of ``source``, share its row."""
        if tensor is not source:
            self.known.note(tensor, packed(self.key_of(source), _version_of(tensor)))

    def _meet(self, tensor: Any, previous: int) -> int:
        key = self._row_of_met(tensor, previous)
        for listener in self.meeting_listeners if previous == NO_KEY else self.change_listeners:
            listener(tensor, key)
        return key

    def _row_of_met(self, tensor: Any, previous: int) -> int:
        if tensor.persistable:
            kind = PARAMETER if isinstance(tensor, self._parameter_type) else BUFFER
            return self._add_row(tensor, kind, NO_KEY, previous, NO_KEY, tensor.name)
        # Asking an unnamed tensor for its name would make one up and shift the names of later ones.
        if previous == NO_KEY and _is_defined(tensor):
            # Some of Paddle's C++ methods return a new object that hangs on the same grad node.
            key: int = self.lineage.row_at(_made_grad_address(tensor))
            if key != NO_KEY:
                self.known.note(tensor, packed(key, _version_of(tensor)))
                return key
        return self._add_row(tensor, EXTERNAL, NO_KEY, previous, NO_KEY, "")

    def _add_row(
        self, tensor: Any, kind: int, op: int, previous: int, detached_from: int, name: str
    ) -> int:
        key: int = self.next_key()
        dtype, name_key = _key_in(self.dtypes, tensor.dtype), _key_in(self.names, name)
        place, stop_gradient, version, address = 0, True, 0, 0
        # Asking an undefined tensor for more than its shape and dtype kills the process.
        if _is_defined(tensor):
            version, place = _version_of(tensor), self.place_key(tensor)
            stop_gradient, address = tensor.stop_gradient, _made_grad_address(tensor)
            self.known.note(tensor, packed(key, version))
        self.rows.extend(
            (
                key, _key_in(self.shapes, tuple(tensor.shape)), dtype, place, stop_gradient,
                0 if version == NO_VERSION else version, kind, op, previous, detached_from,
                name_key, id(tensor), address,
            )
        )  # fmt: skip
        return key

    def place_key(self, tensor: Any) -> int:
        """Return the key of the tensor's place in :attr:`places`."""
        if not self.reads_place or not DOOR.is_initialized(tensor):
            return 0
        return _key_in(self.places, tensor.place)

    def living(self) -> list[tuple[Any, int]]:
        """Return the tensors that are still alive, with their latest rows."""
        return [(tensor, row >> VERSION_BITS) for tensor, row in self.known.living()]

    def living_keys(self) -> npt.NDArray[np.int64]:
        """Return the latest rows of the tensors that are still alive, ascending."""
        return np.sort(np.frombuffer(self.known.living_numbers(), np.int64) >> VERSION_BITS)


def _is_defined(tensor: Any) -> bool:
    """Tell whether a tensor may be asked for more than its shape and dtype.

    One of no elements is never initialised, and may be asked all the same.
    """
    return bool(DOOR.is_initialized(tensor) or 0 in tensor.shape)


def _version_of(tensor: Any) -> int:
    has_version = DOOR.is_dense(tensor) or DOOR.is_dist(tensor)
    return DOOR.inplace_version(tensor) if has_version else NO_VERSION


def _made_grad_address(tensor: Any) -> int:
    """Return the address of the grad node that the tensor's op made, or 0.

    A leaf's node accumulates its gradient: it belongs to the tensor, not to an op.
    """
    has_node = not tensor.stop_gradient and not tensor.is_leaf
    return GRAD_FN.address(tensor) or 0 if has_node else 0


def _is_old(row: int, tensor: Any) -> bool:
    """Tell whether a tensor has another version than its row is packed with, if with any."""
    version = row & LARGEST_VERSION
    return version != NO_VERSION and version != DOOR.inplace_version(tensor) & LARGEST_VERSION


def _key_in(keys: dict[Any, int], value: Any) -> int:
    known = keys.get(value)
    return keys.setdefault(value, len(keys)) if known is None else known


def packed(key: int, version: int) -> int:
    """Return a row and an in-place version as one number: no object, unlike a tuple of them."""
    return key << VERSION_BITS | version & LARGEST_VERSION
