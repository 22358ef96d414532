"""The oracle: copies of what each op returned, made right after the op."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import paddle

from paddle_lab.capture.replay.call_log import CallLog
from paddle_lab.capture.replay.calls import tensors_in

_numpy = inspect.unwrap(paddle.Tensor.numpy)
_register = inspect.unwrap(paddle.Tensor._register_grad_hook)
_is_filled = inspect.unwrap(paddle.Tensor._is_initialized)


class KeepingLog(CallLog):
    """A log that also copies every output."""

    outputs: dict[int, list[Any]]
    """By the key of the op: an array for each output, ``None`` if it cannot be read."""

    gradients: dict[tuple[int, int, int], Any]
    """The gradient of an output, by the key of the op, the output, and the backward call."""

    def open(self) -> None:
        self.outputs, self.gradients = {}, {}
        super().open()
        self._next, self._recorder.on_op = self._recorder.on_op, self._copy_outputs

    def _copy_outputs(self, op: int, result: Any) -> None:
        if self._next is not None:
            self._next(op, result)
        for at, tensor in enumerate(tensors_in(result, paddle.Tensor)):
            if not tensor.stop_gradient and not tensor.is_leaf and tensor.is_dense():
                _register(tensor, self._keeper(op, at))
        self.outputs[op] = [
            _array(tensor) if _is_filled(tensor) and tensor.is_dense() else None
            for tensor in tensors_in(result, paddle.Tensor)
        ]

    def _keeper(self, op: int, output: int) -> Any:
        def keep(gradient: Any) -> None:
            key = op, output, len(self.backward.calls) - 1
            is_dense = gradient is not None and gradient.is_dense()
            self.gradients[key] = _array(gradient) if is_dense else None

        return keep


def _array(tensor: Any) -> Any:
    if tensor.dtype == paddle.bfloat16:  # NumPy has the bits as uint16
        bits = np.array(_numpy(tensor)).view(np.uint16).astype(np.uint32)
        return (bits << 16).view(np.float32)
    return np.array(_numpy(tensor))
