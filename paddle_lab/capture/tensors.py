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

from paddle_lab.trace.schema import TENSOR_KINDS

ACTIVATION = TENSOR_KINDS.index("activation")
PARAMETER = TENSOR_KINDS.index("parameter")
BUFFER = TENSOR_KINDS.index("buffer")
GRADIENT = TENSOR_KINDS.index("gradient")
EXTERNAL = TENSOR_KINDS.index("external")

NO_KEY = -1

TensorRow = tuple[int, Any, Any, Any, bool, int, int, int, int, int, str, int]
"""key, shape, dtype, place, stop_gradient, version, kind, producer, previous, detached_from, name, id."""


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
        self.rows: list[TensorRow] = []
        self.grad_addresses: dict[int, int] = {}
        """Row to the address of the grad node it came with; leaves and constants have none."""
        self.producers: dict[int, int] = {}
        """Row to the op that made it, for the rows in :attr:`grad_addresses`."""
        self._rows_at: dict[int, int] = {}
        """Address of a grad node to the latest row that came with it."""
        self._known: dict[int, tuple[weakref.ref[Any], int, int]] = {}
        self._parameter_type = parameter_type
        self._reads_place = reads_place
        self._next_key: Callable[[], int] = count().__next__

    def key_of(self, tensor: Any) -> int:
        """Return the row of ``tensor``'s present value, making one where the trace has none."""
        known = self._known.get(id(tensor))
        if known is None or known[0]() is not tensor:
            return self._meet(tensor, NO_KEY)
        if known[2] != tensor._inplace_version():
            # Modified by something that is no op: set_value, an optimizer in C++, another thread.
            return self._meet(tensor, known[1])
        return known[1]

    def known_key(self, tensor: Any) -> int:
        """Return the latest row of ``tensor``, or -1; never makes one."""
        known = self._known.get(id(tensor))
        return NO_KEY if known is None or known[0]() is not tensor else known[1]

    def is_modified(self, tensor: Any) -> bool:
        """Tell whether ``tensor`` was modified in place since its latest row."""
        known = self._known.get(id(tensor))
        return known is not None and known[0]() is tensor and known[2] != tensor._inplace_version()

    def produce(self, tensor: Any, op: int, *, kind: int = ACTIVATION, detached_from: int = NO_KEY) -> int:
        """Make a row for what ``op`` just wrote into ``tensor``.

        An op may hand back the very tensor it was given: then the new row follows the old one.
        """
        known = self._known.get(id(tensor))
        if known is None or known[0]() is not tensor:
            return self._add_row(tensor, kind, op, NO_KEY, detached_from, "")
        if tensor._is_initialized() and (tensor.persistable or isinstance(tensor, self._parameter_type)):
            kind, name = self._kind_and_name(tensor)
            return self._add_row(tensor, kind, op, known[1], detached_from, name)
        return self._add_row(tensor, kind, op, known[1], detached_from, "")

    def note_grad_node(self, tensor: Any, key: int, op: int) -> None:
        """Note which grad node the row's value hangs on, while the tensor is here to be asked."""
        # A leaf's node accumulates its gradient: it belongs to the tensor, not to an op.
        if not tensor.stop_gradient and not tensor.is_leaf:
            grad_node = tensor.grad_fn
            if grad_node is not None:
                address = grad_node.node_ptr()
                self.grad_addresses[key] = address
                self.producers[key] = op
                self._rows_at[address] = key

    def alias(self, tensor: Any, source: Any) -> None:
        """Let ``tensor``, another object for the very value of ``source``, share its row."""
        if tensor is not source:
            key = self.key_of(source)
            self._known[id(tensor)] = (weakref.ref(tensor), key, tensor._inplace_version())

    def _row_behind(self, tensor: Any) -> int:
        """Return the row of which ``tensor`` is another object, told by their grad node, or -1.

        Some of Paddle's C++ methods return a new object that hangs on the same grad node.
        """
        if tensor.stop_gradient or tensor.is_leaf:
            return NO_KEY
        grad_node = tensor.grad_fn
        return NO_KEY if grad_node is None else self._rows_at.get(grad_node.node_ptr(), NO_KEY)

    def _meet(self, tensor: Any, previous: int) -> int:
        kind, name = self._kind_and_name(tensor)
        if kind == EXTERNAL and previous == NO_KEY and tensor._is_initialized():
            key = self._row_behind(tensor)
            if key != NO_KEY:
                self._known[id(tensor)] = (weakref.ref(tensor), key, tensor._inplace_version())
                return key
        key = self._add_row(tensor, kind, NO_KEY, previous, NO_KEY, name)
        if kind == EXTERNAL and tensor._is_initialized():
            self.note_grad_node(tensor, key, NO_KEY)
        return key

    def _add_row(
        self, tensor: Any, kind: int, op: int, previous: int, detached_from: int, name: str
    ) -> int:
        key = self._next_key()
        identity = id(tensor)
        if not tensor._is_initialized():
            # Touching more of an undefined tensor kills the process.
            self.rows.append(
                (key, (), None, None, True, 0, kind, op, previous, detached_from, name, identity)
            )
            return key
        version = tensor._inplace_version()
        self._known[identity] = (weakref.ref(tensor), key, version)
        self.rows.append(
            (
                key,
                tensor.shape,
                tensor.dtype,
                tensor.place if self._reads_place else None,
                tensor.stop_gradient,
                version,
                kind,
                op,
                previous,
                detached_from,
                name,
                identity,
            )
        )
        return key

    def _kind_and_name(self, tensor: Any) -> tuple[int, str]:
        if isinstance(tensor, self._parameter_type):
            return PARAMETER, tensor.name
        if tensor.persistable:
            return BUFFER, tensor.name
        # Asking an unnamed tensor for its name would make one up and shift the names of later ones.
        return EXTERNAL, ""

    def living(self) -> list[tuple[Any, int]]:
        """Return the tensors that are still alive, with their latest rows."""
        alive = []
        for reference, key, _ in list(self._known.values()):
            tensor = reference()
            if tensor is not None:
                alive.append((tensor, key))
        return alive
