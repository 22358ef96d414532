"""Explains what ``to_static`` does to a function: ``explain_static(function, *inputs)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddle_lab.views.text.break_map import BreakMap


def explain_static(function: Callable[..., object], /, *inputs: Any, **named: Any) -> BreakMap:
    """Find where ``to_static`` breaks a function's graph, and why.

    The function runs up to three times. Its output and Python's warnings are not shown, but log
    records reach their handlers each time. Afterwards parameters, buffers, gradients, variables,
    the random generators, and Paddle's caches of compiled functions are restored. Paddle also notes
    in C++ which functions it has met. It keeps that, and may then split a function differently.

    Parameters
    ----------
    function
        A function, a layer, or the result of ``paddle.jit.to_static`` in any mode. Another function
        is compiled like by ``to_static(function, full_graph=False)``.
    inputs, named
        The arguments of a call.

    Returns
    -------
    BreakMap
        Each of ``breaks`` has a kind, file, line, cause and advice. The ``recompilations`` say
        which value made Paddle compile the function again, before or for these inputs. If the
        function raises an error, ``error`` describes it in a sentence.

    Raises
    ------
    PaddleUnavailableError
        If there is no PaddlePaddle, or one older than 3.3.
    """
    from paddle_lab.capture.availability import require_paddle
    from paddle_lab.capture.breaks.explain import explain
    from paddle_lab.notebook_cells import cell_of
    from paddle_lab.views.text.break_map import Break, BreakMap, Recompilation

    require_paddle()
    told = explain(function, inputs, named)
    breaks = [
        Break(one.file, one.line, cell_of(one.file), one.kind, one.cause, one.said, one.function)
        for one in told.breaks
    ]
    recompilations = [
        Recompilation(one.file, one.line, cell_of(one.file), *one.missed, one.function)
        for one in told.recompilations
    ]
    return BreakMap(told.function, breaks, recompilations, *told[3:])
