"""Reads ``tensor.grad_fn`` without keeping the grad node alive for ever.

In Paddle 3.3 each read of ``Tensor.grad_fn`` adds a reference to the node that is never removed. So
the node and all that it saved for backward are never freed. (``next_functions`` does not leak.) If
the installed Paddle leaks, the additional reference is dropped here. A test with a tensor of our
own finds this out once, before the first hook is installed.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

from paddle_lab.capture.door import DOOR

_drop_reference: Any = ctypes.pythonapi.Py_DecRef
_drop_reference.argtypes = [ctypes.py_object]
_drop_reference.restype = None

# A node that nothing else holds has two references: the local variable and getrefcount's argument.
_SOUND_REFERENCES = 2


class GradFnReader:
    """Reads grad nodes of tensors; :data:`GRAD_FN` is the only instance."""

    def __init__(self) -> None:
        self._is_leaking: bool | None = None

    @property
    def is_leaking(self) -> bool:
        """Whether a read of ``grad_fn`` leaks a reference; ``False`` until this is known.

        The native code reads this attribute by its name.
        """
        return bool(self._is_leaking)

    def find_out(self, paddle: Any) -> None:
        """Find out whether a read of ``grad_fn`` leaks a reference, if this is not known yet.

        Call this before hooks are installed, because they would record the op of the test. In
        static mode, tensors have no grad nodes. Then nothing is done, and a later call finds out.
        If the test tensor cannot be made, no reference is ever dropped.
        """
        if self._is_leaking is not None or not paddle.in_dynamic_mode():
            return
        try:
            with paddle.set_grad_enabled(True):
                leaf = paddle.to_tensor(0.0, place=paddle.CPUPlace(), stop_gradient=False)
                made = leaf.scale(2.0)
            node = DOOR.grad_fn(made)
        except Exception:  # noqa: BLE001  (whatever a Paddle lacks, the user's code runs)
            return
        self._is_leaking = sys.getrefcount(node) > _SOUND_REFERENCES
        if self._is_leaking:
            _drop_reference(node)

    def node(self, tensor: Any) -> Any:
        """Return the tensor's grad node, ``None`` if there is none."""
        node = DOOR.grad_fn(tensor) if DOOR.has("backward") else None
        if node is not None and self._is_leaking:
            _drop_reference(node)
        return node

    def address(self, tensor: Any) -> int | None:
        """Return the address of the tensor's grad node, ``None`` if there is none."""
        node = self.node(tensor)
        return None if node is None else DOOR.node_address(node)


GRAD_FN = GradFnReader()
