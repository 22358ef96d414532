"""Every name of Paddle that we use and that its public documentation does not have.

A name is written as Python would reach it. ``paddle.nn.Layer()._parameters`` is an attribute that
``Layer.__init__`` sets.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Feature(NamedTuple):
    """A part of the trace that is off where Paddle lacks one of its names."""

    names: dict[str, str]
    """What our code calls a name, and where Paddle has it."""
    wanted_by: str = "trace"
    """What a trace must be asked for to need it: ``"memory"`` or a kind of evidence."""


_TENSOR: Final = "paddle.Tensor"
_CORE: Final = "paddle.base.core"
_EAGER: Final = f"{_CORE}.eager"

FEATURES: Final[dict[str, Feature]] = {
    "tensors": Feature(
        {
            "is_initialized": f"{_TENSOR}._is_initialized",
            "inplace_version": f"{_TENSOR}._inplace_version",
            "is_dense": f"{_TENSOR}.is_dense",
            "is_dist": f"{_TENSOR}.is_dist",
            "parameter_type": "paddle.base.framework.EagerParamBase",
        }
    ),
    "ops": Feature(
        {
            "eager_ops": f"{_EAGER}.ops",
            "legacy_ops": f"{_EAGER}.ops.legacy",
            "pir_ops": f"{_CORE}.pir.ops",
        }
    ),
    "creations": Feature(
        {
            "to_tensor": "paddle.tensor.creation._to_tensor_non_static",
            "from_dlpack": f"{_CORE}.from_dlpack",
            "create_parameter": "paddle.base.layer_helper_base.LayerHelperBase.create_parameter",
        }
    ),
}
"""The features in the order in which a trace tells what is off. All need ``"tensors"``."""
