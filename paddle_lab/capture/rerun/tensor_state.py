"""Lets a second run work on copies of tensors, and then restores the tensors.

A second run does not write into the user's tensors. During the run each tensor has another storage,
with a copy of its values before the first run. Afterwards it gets its own storage back, with its
in-place version and its address. So graphs that saved the tensor are not affected.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.rerun.reach import Unrepeatable
from paddle_lab.words import say


class TensorState:
    """A tensor and its gradient, with their state before the first run.

    Parameters
    ----------
    paddle
        The paddle module.
    tensor
        A dense tensor that has values.
    """

    def __init__(self, paddle: Any, tensor: Any) -> None:
        self._paddle = paddle
        self.tensor = tensor
        self.version: int = DOOR.inplace_version(tensor)
        self.start = tensor.data_ptr()
        self.stop = self.start + math.prod(tensor.shape) * tensor.element_size()
        self._values = _copy(tensor)
        self._stops = tensor.stop_gradient
        gradient = tensor.grad if tensor.is_leaf else None
        if gradient is not None and not DOOR.is_dense(gradient):
            raise Unrepeatable(say("notices.unchecked.sparse_gradient"))
        self._gradient = None if gradient is None else _copy(gradient)
        self._own: Any = None
        self._own_gradient: Any = None
        self._own_gradient_body: Any = None
        self._own_stops = self._stops

    @property
    def is_modified(self) -> bool:
        """Whether the first run modified the tensor in place."""
        modified: bool = DOOR.inplace_version(self.tensor) != self.version
        return modified

    @property
    def lost_gradient(self) -> bool:
        """Whether the first run cleared a gradient that is older than the run.

        Paddle marks a cleared gradient. Until a backward runs, the next gradient replaces a marked
        gradient, even if its values were restored. Python can neither read nor remove this mark.
        Only a gradient of zeros shows it.
        """
        if self._gradient is None or self.tensor.grad is None:
            return False
        return bool(self._gradient.any()) and not bool(self.tensor.grad.any())

    def begin(self) -> None:
        """Set the tensor's earlier values, in another storage, and its gradient and flag."""
        tensor = self.tensor
        self._own_stops = tensor.stop_gradient
        own = self._paddle.empty([0])
        DOOR.share_tensor_to(tensor, own)
        self._own = own
        if tensor.is_leaf:
            self._hide_gradient()
            if self._gradient is not None:
                tensor.grad = _copy(self._gradient)
        DOOR.share_tensor_to(_copy(self._values), tensor)
        if tensor.is_leaf:
            tensor.stop_gradient = self._stops

    def end(self) -> None:
        """Restore the tensor's state after the first run. Without :meth:`begin` do nothing."""
        tensor = self.tensor
        if self._own is None:
            return
        DOOR.share_tensor_to(self._own, tensor)
        if tensor.is_leaf:
            self._show_gradient()
            tensor.stop_gradient = self._own_stops
        self._own = self._own_gradient = self._own_gradient_body = None

    def _hide_gradient(self) -> None:
        """Remove the gradient, but do not free its memory, which other tensors may share."""
        gradient = self.tensor.grad
        self._own_gradient = gradient
        if gradient is not None:
            self._own_gradient_body = self._paddle.empty([0], dtype=gradient.dtype)
            DOOR.share_buffer_to(gradient, self._own_gradient_body)
            self.tensor.grad = None

    def _show_gradient(self) -> None:
        tensor, gradient = self.tensor, self._own_gradient
        if gradient is None:
            if tensor.grad is not None:
                tensor.grad = None
            return
        DOOR.share_buffer_to(self._own_gradient_body, gradient)
        present = tensor.grad
        if present is None or present.data_ptr() != gradient.data_ptr():
            # The second run has set another gradient. Restore the gradient of the first run.
            tensor.grad = None
            tensor.grad = gradient


def states_of(paddle: Any, tensors: Sequence[Any]) -> list[TensorState]:
    """Return the states of tensors that have values.

    Raises
    ------
    Unrepeatable
        For tensors that cannot be copied.
    """
    states = []
    for tensor in tensors:
        if not DOOR.is_initialized(tensor):
            continue
        if not DOOR.is_dense(tensor) or DOOR.is_dist(tensor):
            raise Unrepeatable(say("notices.unchecked.sparse_tensor"))
        states.append(TensorState(paddle, tensor))
    return states


def refuse_entangled(states: Sequence[TensorState]) -> None:
    """Refuse tensors for which another storage would change the result.

    Raises
    ------
    Unrepeatable
        If the first run modified a tensor in place, and the tensor has a backward graph or shares
        its memory with another tensor.
    """
    modified = [state for state in states if state.is_modified]
    if any(not state.tensor.is_leaf for state in modified):
        raise Unrepeatable(say("notices.unchecked.in_graph"))
    for one in modified:
        for other in states:
            if other is not one and one.start < other.stop and other.start < one.stop:
                raise Unrepeatable(say("notices.unchecked.shared"))


def _copy(tensor: Any) -> Any:
    return tensor.detach().clone()
