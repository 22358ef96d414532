"""Which tensor is which: from Python objects to rows of the ``tensors`` table.

A row is a *value*. The same object modified in place becomes a new row, linked to the one before;
so "who made what this op read?" has one answer. Objects are known by ``id`` with a weak reference
that guards against reuse: nothing is kept alive.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from itertools import count
from typing import Any

from paddle_lab.capture.grad_fn import GRAD_FN
from paddle_lab.capture.tape import Tape
from paddle_lab.trace.schema import TENSOR_KINDS

ACTIVATION = TENSOR_KINDS.index("activation")
PARAMETER = TENSOR_KINDS.index("parameter")
BUFFER = TENSOR_KINDS.index("buffer")
GRADIENT = TENSOR_KINDS.index("gradient")
EXTERNAL = TENSOR_KINDS.index("external")

NO_KEY = -1

VERSION_BITS = 24
LARGEST_VERSION = (1 << VERSION_BITS) - 1


class TensorPool:
    """The tensors a trace has met.

    Parameters
    ----------
    parameter_type
        Paddle's parameter class.
    reads_place
        Whether to ask each tensor for its place; on a CPU build there is but one answer.
    """

    def __init__(self, parameter_type: type, *, reads_place: bool) -> None:
        self.rows = Tape(13)
        """key, shape (a key of :attr:`shapes`), dtype, place, stop_gradient, version, kind,
        producer, previous, detached_from, name, id of the object, address of its grad node or 0."""
        self.shapes: dict[tuple[int, ...], int] = {(): 0}
        self._grad_addresses: dict[int, int] = {}
        self._producers: dict[int, int] = {}
        self._rows_at: dict[int, int] = {}
        self._indexed = 0
        self.known: dict[int, Any] = {}
        """``id`` of a tensor to a weak reference, which tells whether the id still is its own."""
        self.known_rows: dict[int, int] = {}
        """``id`` of a tensor to its latest row and the version that was: see :func:`packed`."""
        self._parameter_type = parameter_type
        self.reads_place = reads_place
        self.next_key: Callable[[], int] = count().__next__

    def key_of(self, tensor: Any) -> int:
        """Return the row of ``tensor``'s present value, making one where the trace has none."""
        identity = id(tensor)
        reference = self.known.get(identity)
        row = self.known_rows.get(identity)
        if row is None or reference is None or reference() is not tensor:
            return self._meet(tensor, NO_KEY)
        key = row >> VERSION_BITS
        if row != packed(key, tensor._inplace_version()):
            # Modified by something that is no op: set_value, an optimizer in C++, another thread.
            return self._meet(tensor, key)
        return key

    def known_key(self, tensor: Any) -> int:
        """Return the latest row of ``tensor``, or -1; never makes one."""
        reference = self.known.get(id(tensor))
        row = self.known_rows.get(id(tensor))
        if reference is None or row is None or reference() is not tensor:
            return NO_KEY
        return row >> VERSION_BITS

    def is_modified(self, tensor: Any) -> bool:
        """Tell whether ``tensor`` was modified in place since its latest row."""
        key = self.known_key(tensor)
        return key != NO_KEY and self.known_rows[id(tensor)] != packed(
            key, tensor._inplace_version()
        )

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
        self._index_addresses()
        return self._grad_addresses.get(key)

    def producer(self, key: int) -> int:
        """Return the op that made a row which came with a grad node, or -1."""
        self._index_addresses()
        return self._producers.get(key, NO_KEY)

    def _index_addresses(self) -> None:
        # Rows are only appended while ops run, which is quickest; they are indexed when needed.
        for row in self.rows.rows(self._indexed):
            key, producer, address = row[0], row[7], row[12]
            if address:
                self._grad_addresses[key] = address
                self._producers[key] = producer
                self._rows_at[address] = key
        self._indexed = len(self.rows)

    def detach(self, tensor: Any, result: Any) -> None:
        """Make a row for what ``tensor.detach()`` returned."""
        self.produce(result, NO_KEY, detached_from=self.key_of(tensor))

    def alias(self, tensor: Any, source: Any) -> None:
        """Let ``tensor``, another object for the very value of ``source``, share its row."""
        if tensor is not source:
            key = self.key_of(source)
            self._know(tensor, key)

    def _know(self, tensor: Any, key: int) -> None:
        self.known[id(tensor)] = weakref.ref(tensor)
        self.known_rows[id(tensor)] = packed(key, tensor._inplace_version())

    def _row_behind(self, tensor: Any) -> int:
        """Return the row of which ``tensor`` is another object, told by their grad node, or -1.

        Some of Paddle's C++ methods return a new object that hangs on the same grad node.
        """
        if tensor.stop_gradient or tensor.is_leaf:
            return NO_KEY
        self._index_addresses()
        return self._rows_at.get(GRAD_FN.address(tensor) or 0, NO_KEY)

    def _meet(self, tensor: Any, previous: int) -> int:
        if tensor.persistable:
            kind = PARAMETER if isinstance(tensor, self._parameter_type) else BUFFER
            return self._add_row(tensor, kind, NO_KEY, previous, NO_KEY, tensor.name)
        # Asking an unnamed tensor for its name would make one up and shift the names of later ones.
        if previous == NO_KEY and tensor._is_initialized():
            key = self._row_behind(tensor)
            if key != NO_KEY:
                self._know(tensor, key)
                return key
        return self._add_row(tensor, EXTERNAL, NO_KEY, previous, NO_KEY, "")

    def _add_row(
        self, tensor: Any, kind: int, op: int, previous: int, detached_from: int, name: str
    ) -> int:
        key = self.next_key()
        identity = id(tensor)
        if not tensor._is_initialized():
            # Asking an undefined tensor for more than its shape and dtype kills the process.
            shape = self.shape_key(tensor)
            self.rows.add(
                (
                    key, shape, tensor.dtype, None, True, 0, kind, op, previous, detached_from,
                    name, identity, 0,
                )
            )  # fmt: skip
            return key
        version = tensor._inplace_version()
        # A leaf's node accumulates its gradient: it belongs to the tensor, not to an op.
        has_node = not tensor.stop_gradient and not tensor.is_leaf
        address = GRAD_FN.address(tensor) if has_node else None
        self.known[identity] = weakref.ref(tensor)
        self.known_rows[identity] = key << VERSION_BITS | version
        self.rows.add(
            (
                key, self.shape_key(tensor), tensor.dtype,
                tensor.place if self.reads_place else None, tensor.stop_gradient, version, kind,
                op, previous, detached_from, name, identity, address or 0,
            )
        )  # fmt: skip
        return key

    def shape_key(self, tensor: Any) -> int:
        """Return the key of the tensor's shape in :attr:`shapes`."""
        shape = tuple(tensor.shape)
        known = self.shapes.get(shape)
        return self.shapes.setdefault(shape, len(self.shapes)) if known is None else known

    def living(self) -> list[tuple[Any, int]]:
        """Return the tensors that are still alive, with their latest rows."""
        alive = []
        for identity, reference in list(self.known.items()):
            tensor = reference()
            row = self.known_rows.get(identity)  # an interrupt may fall between the two entries
            if tensor is not None and row is not None:
                alive.append((tensor, row >> VERSION_BITS))
        return alive


def packed(key: int, version: int) -> int:
    """Return a row and an in-place version as one number: no object, unlike a tuple of them."""
    return key << VERSION_BITS | version & LARGEST_VERSION
