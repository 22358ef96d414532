"""Reading ``tensor.grad_fn`` without keeping the grad node alive for ever.

In Paddle 3.3 each read of ``Tensor.grad_fn`` leaves one reference to the node too many, so the node
and all it saved for backward are never freed (``next_functions`` has no such fault). The surplus is
dropped here, if the Paddle that is running has it: that is tried once, on a tensor of our own.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

_drop_reference: Any = ctypes.pythonapi.Py_DecRef
_drop_reference.argtypes = [ctypes.py_object]
_drop_reference.restype = None


class GradFnReader:
    """Reads grad nodes of tensors.

    Parameters
    ----------
    paddle
        The paddle module.
    """

    def __init__(self, paddle: Any) -> None:
        self.is_leaking = _is_leaking(paddle)

    def node(self, tensor: Any) -> Any:
        """Return the tensor's grad node, ``None`` where it has none."""
        node = tensor.grad_fn
        if self.is_leaking and node is not None:
            _drop_reference(node)
        return node

    def address(self, tensor: Any) -> int | None:
        """Return the address of the tensor's grad node, ``None`` where it has none."""
        node = tensor.grad_fn
        if node is None:
            return None
        address: int = node.node_ptr()
        if self.is_leaking:
            _drop_reference(node)
        return address


def _is_leaking(paddle: Any) -> bool:
    with paddle.enable_grad():
        leaf = paddle.zeros([1])
        leaf.stop_gradient = False
        node = (leaf * 1.0).grad_fn
    # One reference is ours and one is getrefcount's argument.
    is_leaking = sys.getrefcount(node) > 2
    if is_leaking:
        _drop_reference(node)
    return is_leaking
