"""Reads ``tensor.grad_fn`` without keeping the grad node alive for ever.

In Paddle 3.3 each read of ``Tensor.grad_fn`` leaves one reference to the node too many, so the node
and all it saved for backward are never freed (``next_functions`` has no such fault). If the running
Paddle has this fault, the extra reference is dropped here. A test on a tensor of our own finds that
out once, before the first hook is installed.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

from paddle_lab.capture.door import DOOR

_drop_reference: Any = ctypes.pythonapi.Py_DecRef
_drop_reference.argtypes = [ctypes.py_object]
_drop_reference.restype = None

# References to a node that nothing else holds: the local variable, getrefcount's argument.
_SOUND_REFERENCES = 2


class GradFnReader:
    """Reads grad nodes of tensors; :data:`GRAD_FN` is the only instance."""

    def __init__(self) -> None:
        self._is_leaking: bool | None = None

    @property
    def is_leaking(self) -> bool:
        """Whether reading ``grad_fn`` leaves a reference; ``False`` until this is known.

        The native code reads this attribute by its name.
        """
        return bool(self._is_leaking)

    def find_out(self, paddle: Any) -> None:
        """Find out whether reading ``grad_fn`` leaves a reference, if that is not known yet.

        Call this before hooks are installed: they would record the op that it runs. In static mode
        no tensor has a grad node, so this does nothing, and a later call finds out. If Paddle
        cannot make the test tensor, no reference is ever dropped.
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
        """Return the tensor's grad node, ``None`` if it has none."""
        node = DOOR.grad_fn(tensor) if DOOR.has("backward") else None
        if node is not None and self._is_leaking:
            _drop_reference(node)
        return node

    def address(self, tensor: Any) -> int | None:
        """Return the address of the tensor's grad node, ``None`` if it has none."""
        node = self.node(tensor)
        return None if node is None else DOOR.node_address(node)


GRAD_FN = GradFnReader()
