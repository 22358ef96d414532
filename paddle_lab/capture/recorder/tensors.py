"""Maps tensors, as Python objects, to rows of the ``tensors`` table.

A row is one *value*. If an object is modified in place, it gets a new row, linked to the old one.
So each value that an op reads has one producer. Objects are known by ``id``, with a weak reference
that detects a reused ``id``. Nothing is kept alive.
"""

from __future__ import annotations

from collections import defaultdict
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
    """The tensors that a trace has seen.

    Parameters
    ----------
    parameter_type
        Paddle's parameter class.
    ops
        The ops that make the tensors: see :attr:`Recorder.ops`.
    reads_place
        Whether to read each tensor's place; a CPU build has only one.
    """

    def __init__(self, parameter_type: type, ops: Tape, *, reads_place: bool) -> None:
        self.rows = Tape()
        """Rows of :class:`TensorCell`."""
        self.shapes, self.dtypes = numbers(()), numbers()
        self.places, self.names = numbers(None), numbers("")
        self.lineage = Lineage(ops, self.rows)
        self.known = ObjectTable()
        """Tensors, with their latest rows and the versions of the rows: see :func:`packed`."""
        self._parameter_type = parameter_type
        self.reads_place = reads_place
        self.reads_grad_nodes = DOOR.has("backward")
        self.meeting_listeners: list[Callable[[Any, int], None]] = []
        """Called with each tensor that the trace meets first without having seen an op make it."""
        self.data_listeners: list[Callable[[Any, int], None]] = []
        """Called likewise, but with no parameter and no buffer. The native code also leaves out the
        gradients that an optimizer reads, because these are the most."""
        self.change_listeners: list[Callable[[Any, int], None]] = []
        """Called with each known tensor that was modified without an op."""
        self.next_key = Counter()

    def key_of(self, tensor: Any) -> int:
        """Return the row of ``tensor``'s current value; make one if there is none."""
        row = self.known.find(tensor)
        if row == NO_KEY:
            return self._meet(tensor, NO_KEY)
        key: int = row >> VERSION_BITS
        # If the row is old, the tensor was modified without an op: by set_value, by an optimizer in
        # C++ or by another thread.
        return self._meet(tensor, key) if _is_old(row, tensor) else key

    def known_key(self, tensor: Any) -> int:
        """Return the latest row of ``tensor``, or -1. This never makes a row."""
        row: int = self.known.find(tensor)
        return NO_KEY if row == NO_KEY else row >> VERSION_BITS

    def is_modified(self, tensor: Any) -> bool:
        """Tell whether ``tensor`` was modified in place after its latest row was written."""
        row = self.known.find(tensor)
        return row != NO_KEY and _is_old(row, tensor)

    def produce(
        self, tensor: Any, op: int, *, kind: int = ACTIVATION, detached_from: int = NO_KEY
    ) -> int:
        """Make a row for the value that ``op`` has just written into ``tensor``.

        An op may return one of its own inputs. Then the new row is linked to the old one.
        """
        previous = self.known_key(tensor)
        name = ""
        # The trace first sees a new parameter when the initializer writes into the parameter.
        is_parameter = isinstance(tensor, self._parameter_type)
        if is_parameter or (previous != NO_KEY and tensor.persistable):
            kind = PARAMETER if is_parameter else BUFFER
            name = tensor.name
        return self._add_row(tensor, kind, op, previous, detached_from, name)

    def grad_address(self, key: int) -> int | None:
        """Return the address of a row's grad node; leaves have none."""
        return self.lineage.grad_address(key) or None

    def detach(self, tensor: Any, result: Any) -> None:
        """Make a row for the result of ``tensor.detach()``."""
        self.produce(result, NO_KEY, detached_from=self.key_of(tensor))

    def alias(self, tensor: Any, source: Any) -> None:
        """Give ``tensor`` the row of ``source``, because both are objects for the same value."""
        if tensor is not source:
            self.known.note(tensor, packed(self.key_of(source), _version_of(tensor)))

    def _meet(self, tensor: Any, previous: int) -> int:
        key = self._row_of_met(tensor, previous)
        for listener in self.meeting_listeners if previous == NO_KEY else self.change_listeners:
            listener(tensor, key)
        if previous == NO_KEY and not tensor.persistable:
            for listener in self.data_listeners:
                listener(tensor, key)
        return key

    def _row_of_met(self, tensor: Any, previous: int) -> int:
        if tensor.persistable:
            kind = PARAMETER if isinstance(tensor, self._parameter_type) else BUFFER
            return self._add_row(tensor, kind, NO_KEY, previous, NO_KEY, tensor.name)
        # Paddle makes a name when the name of an unnamed tensor is read. This would change the
        # names of later tensors.
        if previous == NO_KEY and _is_defined(tensor):
            # Some of Paddle's C++ methods return a new object with the same grad node.
            key: int = self.lineage.row_at(_made_grad_address(tensor))
            if key != NO_KEY:
                self.known.note(tensor, packed(key, _version_of(tensor)))
                return key
        return self._add_row(tensor, EXTERNAL, NO_KEY, previous, NO_KEY, "")

    def _add_row(
        self, tensor: Any, kind: int, op: int, previous: int, detached_from: int, name: str
    ) -> int:
        key: int = self.next_key()
        dtype, name_key = self.dtypes[tensor.dtype], self.names[name]
        place, stop_gradient, version, address = 0, True, 0, 0
        # Reading more than the shape and dtype of an undefined tensor kills the process.
        if _is_defined(tensor):
            version, place = _version_of(tensor), self.place_key(tensor)
            stop_gradient, address = tensor.stop_gradient, _made_grad_address(tensor)
            self.known.note(tensor, packed(key, version))
        self.rows.extend(
            (
                key, self.shapes[tuple(tensor.shape)], dtype, place, stop_gradient,
                0 if version == NO_VERSION else version, kind, op, previous, detached_from,
                name_key, id(tensor), address,
            )
        )  # fmt: skip
        return key

    def place_key(self, tensor: Any) -> int:
        """Return the key of the tensor's place in :attr:`places`."""
        if not self.reads_place or not DOOR.is_initialized(tensor):
            return 0
        return self.places[tensor.place]

    def living(self) -> list[tuple[Any, int]]:
        """Return the tensors that are still alive, with their latest rows."""
        return [(tensor, row >> VERSION_BITS) for tensor, row in self.known.living()]

    def living_keys(self) -> npt.NDArray[np.int64]:
        """Return the latest rows of the tensors that are still alive, ascending."""
        return np.sort(np.frombuffer(self.known.living_numbers(), np.int64) >> VERSION_BITS)


def _is_defined(tensor: Any) -> bool:
    """Tell whether more than a tensor's shape and dtype may be read.

    A tensor without elements is never initialized, but may be read.
    """
    return bool(DOOR.is_initialized(tensor) or 0 in tensor.shape)


def _version_of(tensor: Any) -> int:
    has_version = DOOR.is_dense(tensor) or DOOR.is_dist(tensor)
    return DOOR.inplace_version(tensor) if has_version else NO_VERSION


def _made_grad_address(tensor: Any) -> int:
    """Return the address of the grad node that the tensor's op made, or 0.

    A leaf's node accumulates the leaf's gradient. It belongs to the tensor, not to an op.
    """
    has_node = not tensor.stop_gradient and not tensor.is_leaf
    return GRAD_FN.address(tensor) or 0 if has_node else 0


def _is_old(row: int, tensor: Any) -> bool:
    """Tell whether the versions of a tensor and of its row differ. Some rows have no version."""
    version = row & LARGEST_VERSION
    return version != NO_VERSION and version != DOOR.inplace_version(tensor) & LARGEST_VERSION


def numbers(*first: Any) -> defaultdict[Any, int]:
    """Return a dict that numbers its keys in the order in which they are first looked up.

    Each look-up is a single call of C code, so another thread cannot interrupt it.
    """
    found = defaultdict[Any, int](None, {value: number for number, value in enumerate(first)})
    found.default_factory = found.__len__
    return found


def packed(key: int, version: int) -> int:
    """Return a row and an in-place version, packed into one number."""
    return key << VERSION_BITS | version & LARGEST_VERSION
