"""Models on their way to deployment: ``paddle_lab.check_export(layer, input_spec)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle_lab.views.text.export_check import Blocker, ExportCheck, FrozenDimension, Stage


def check_export(layer: Any, input_spec: Sequence[Any]) -> ExportCheck:
    """Check whether a layer can be exported with ``paddle.jit.save``, and computes the same then.

    All blockers are found at once, each with its line. Without a blocker, the layer runs eagerly,
    compiled by ``paddle.jit.to_static``, exported and loaded, and in the predictor of
    ``paddle.inference`` without and with its optimization passes. The model is exported to a
    temporary directory, which is removed. The layer, its parameters and buffers, and all random
    generators are as before.

    Parameters
    ----------
    layer
        The layer, in the mode in which it will be exported: call ``layer.eval()`` before.
    input_spec
        What ``paddle.jit.save`` takes: ``InputSpec``, tensors and other values. For an
        ``InputSpec`` random inputs are made; a tensor is an input as it is.

    Returns
    -------
    ExportCheck
        Has ``ok``, ``blockers``, ``stages`` and ``frozen``: dimensions that ``input_spec`` leaves
        open, and that the exported model takes in one size only. If the state of the layer cannot
        be copied, ``unchecked`` says why.

    Raises
    ------
    PaddleUnavailableError
        If there is no PaddlePaddle, or one older than 3.3.
    """
    from paddle_lab.capture.export.check import check
    from paddle_lab.capture.rerun.reach import Unrepeatable

    try:
        found = check(layer, input_spec)
    except Unrepeatable as reason:
        return ExportCheck(title=type(layer).__name__, unchecked=str(reason))
    return ExportCheck(
        title=type(layer).__name__,
        blockers=[Blocker(*fault) for fault in found.blockers],
        stages=[Stage(*stage) for stage in found.stages],
        frozen=[FrozenDimension(*one) for one in found.frozen],
        is_random=found.is_random,
        is_evaluated=found.is_evaluated,
    )
