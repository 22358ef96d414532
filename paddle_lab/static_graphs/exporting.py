"""Checks models before deployment: ``paddle_lab.check_export(layer, input_spec)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paddle_lab.notebook_cells import cell_of

if TYPE_CHECKING:
    from paddle_lab.capture.export.op_pairs import Pair
    from paddle_lab.views.text.export_check import ExportCheck
    from paddle_lab.views.text.static_comparison import ComparedOp, StaticComparison


def check_export(layer: Any, input_spec: Sequence[Any]) -> ExportCheck:
    """Check whether a layer can be exported, and whether the exported model's results are equal.

    A blocker is a line that ``paddle.jit.save`` cannot export. All blockers are found at once. If
    there are none, the layer runs eagerly, compiled by ``paddle.jit.to_static``, exported and
    loaded, and in the predictor of ``paddle.inference`` without and with its optimization passes.
    The model is exported to a temporary directory, which is removed. Afterwards the layer, its
    parameters and buffers, and all random generators are restored.

    Parameters
    ----------
    layer
        The layer, in the mode in which it will be exported. Usually call ``layer.eval()`` before.
    input_spec
        The same as for ``paddle.jit.save``: ``InputSpec``, tensors and other values. An
        ``InputSpec`` is replaced by random inputs; a tensor is itself the input.

    Returns
    -------
    ExportCheck
        It has ``ok``, ``blockers``, ``stages`` and ``frozen``: the dimensions that are open in
        ``input_spec``, but for which the exported model accepts only one size. If the state of the
        layer cannot be copied, ``unchecked`` says why.

    Raises
    ------
    PaddleUnavailableError
        If there is no PaddlePaddle, or one older than 3.3.
    TypeError
        If ``layer`` is no ``paddle.nn.Layer``, or ``input_spec`` no list or tuple.
    """
    from paddle_lab.capture.export.check import check
    from paddle_lab.capture.rerun.reach import Unrepeatable
    from paddle_lab.views.text.export_check import Blocker, ExportCheck, FrozenDimension, Stage

    try:
        found = check(layer, input_spec)
    except Unrepeatable as reason:
        return ExportCheck(title=type(layer).__name__, unchecked=str(reason))
    return ExportCheck(
        title=type(layer).__name__,
        blockers=[Blocker(*fault, cell_of(fault.file)) for fault in found.blockers],
        stages=[Stage(*stage) for stage in found.stages],
        frozen=[FrozenDimension(*one) for one in found.frozen],
        is_random=found.is_random,
        is_evaluated=found.is_evaluated,
    )


def compare_static(layer: Any, *inputs: Any) -> StaticComparison:
    """Compare an eager run of a layer with its compiled program, op by op.

    Both start from the same state, and both are called twice. The second call shows Python values
    that became constants when the program was built. Afterwards the state is restored.

    Parameters
    ----------
    layer
        A layer, a function, or the result of ``paddle.jit.to_static``. If it already has a compiled
        program for such inputs, that program is compared.
    inputs
        The arguments of the call.

    Returns
    -------
    StaticComparison
        It has ``first``, the first op that differs, with its lines in both; ``rows``, all ops; and
        ``to_pandas()``. If nothing could be compared, ``unchecked`` says why.

    Raises
    ------
    PaddleUnavailableError
        If there is no PaddlePaddle, or one older than 3.3.
    """
    from paddle_lab.capture.export.compare import compare
    from paddle_lab.capture.rerun.reach import Unrepeatable
    from paddle_lab.views.text.static_comparison import StaticComparison

    title = getattr(layer, "__name__", type(layer).__name__)
    try:
        found = compare(layer, inputs)
    except Unrepeatable as reason:
        return StaticComparison(title, [], None, 0, unchecked=str(reason))
    first = None if found.first is None else _compared_op(found.first)
    return StaticComparison(title, [_compared_op(one) for one in found.pairs], first, found.call)


def _compared_op(pair: Pair) -> ComparedOp:
    from paddle_lab.views.text.static_comparison import ComparedOp

    eager, static, compared = pair.eager, pair.static, pair.compared
    return ComparedOp(
        eager.name if eager else "",
        eager.place.file if eager else "",
        eager.place.line if eager else 0,
        static.name if static else "",
        static.place.file if static else "",
        static.place.line if static else 0,
        compared.max_abs if compared else None,
        compared.max_rel if compared else None,
        pair.differs,
        compared.error if compared else "",
        cell_of(op.place.file) if (op := eager or static) else None,
    )
