"""Reading ``tensor.grad_fn`` without keeping the grad node alive for ever.

In Paddle 3.3 each read of ``Tensor.grad_fn`` leaves one reference to the node too many, so the node
and all it saved for backward are never freed (``next_functions`` has no such fault). The surplus is
dropped here, if the Paddle that is running has it: that shows at the first read of a tensor of the
user's, since an op of ours would be seen by everybody else who watches.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

_drop_reference: Any = ctypes.pythonapi.Py_DecRef
_drop_reference.argtypes = [ctypes.py_object]
_drop_reference.restype = None

# References to a node nobody else holds: the local variable and getrefcount's own argument.
_SOUND_REFERENCES = 2


class GradFnReader:
    """Reads grad nodes of tensors; :data:`GRAD_FN` is the only instance."""

    def __init__(self) -> None:
        self._is_leaking: bool | None = None

    def node(self, tensor: Any) -> Any:
        """Return the tensor's grad node, ``None`` where it has none."""
        node = tensor.grad_fn
        if node is not None and self._leaks(sys.getrefcount(node)):
            _drop_reference(node)
        return node

    def address(self, tensor: Any) -> int | None:
        """Return the address of the tensor's grad node, ``None`` where it has none."""
        node = tensor.grad_fn
        if node is None:
            return None
        address: int = node.node_ptr()
        if self._is_leaking or self._leaks(sys.getrefcount(node)):
            _drop_reference(node)
        return address

    @property
    def is_leaking(self) -> bool | None:
        """Whether reading ``grad_fn`` leaks a reference; ``None`` until a read has told.

        The native part asks for it by this name.
        """
        return self._is_leaking

    def _leaks(self, references: int) -> bool:
        # With more references still, others hold this node too, and the next one will tell.
        if self._is_leaking is None and references <= _SOUND_REFERENCES + 1:
            self._is_leaking = references > _SOUND_REFERENCES
        return bool(self._is_leaking)


GRAD_FN = GradFnReader()
