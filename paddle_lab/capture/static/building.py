"""Builds the program of a function or layer, like ``paddle.jit.to_static`` without SOT."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from paddle_lab.capture.availability import require_paddle
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.stacks.source_texts import Cells
from paddle_lab.capture.static.live_program import parameter_paths, read_live
from paddle_lab.programs.program import Program
from paddle_lab.words import listing, say


def built_program(source: Any, inputs: Sequence[Any], cells: Cells | None = None) -> Program:
    """Return the program of a function, a layer, or a ``paddle.static.Program``.

    The program is built separately, without changing programs that ``to_static`` has compiled.

    Parameters
    ----------
    inputs
        Tensors with which the function is called, or ``paddle.static.InputSpec``.

    Raises
    ------
    PaddleUnavailableError
        If there is no Paddle, or a version older than 3.3.
    RuntimeError
        If Paddle lacks a name that this function needs.
    """
    paddle = require_paddle()
    require_names()
    if isinstance(source, paddle.static.Program):
        return read_live(source, cells=cells)
    function = eager_function(source.forward if isinstance(source, paddle.nn.Layer) else source)
    owner = getattr(function, "__self__", None)
    layers = [owner] if isinstance(owner, paddle.nn.Layer) else []
    paths = parameter_paths(layers)
    with left_as_it_was(paddle):
        if any(isinstance(given, paddle.static.InputSpec) for given in inputs):
            static = paddle.jit.to_static(function, input_spec=list(inputs), full_graph=True)
            concrete = DOOR.concrete_program_by_spec(static)
            return read_live(concrete.main_program, cells=cells, paths=paths, of_model=True)
        static = paddle.jit.to_static(function, full_graph=True)
        _, partial = DOOR.concrete_program(
            static, *inputs, is_train=all(layer.training for layer in layers)
        )
        program = DOOR.program_of(partial)
        return read_live(
            DOOR.forward_program(program),
            DOOR.backward_program(program),
            cells=cells,
            paths=paths,
            of_model=True,
        )


def eager_function(function: Any) -> Any:
    """Return the function that was passed to ``to_static``, or ``function`` itself."""
    is_static = isinstance(function, DOOR.static_function)
    return DOOR.function_of_static(function) if is_static else function


def require_names() -> None:
    """Raise if Paddle lacks a name that is needed to read programs.

    Raises
    ------
    RuntimeError
        If a name is missing. The message contains it.
    """
    features = ("programs", "program_counts", "static_programs")
    if not all(map(DOOR.has, features)):
        raise RuntimeError(say("errors.program.lacking", names=listing(DOOR.lacking(*features))))


@contextmanager
def left_as_it_was(paddle: Any) -> Iterator[None]:
    """Build in dynamic mode, and do not use up names that tensors of the user would get."""
    was_static = not paddle.in_dynamic_mode()
    if was_static:
        paddle.disable_static()
    try:
        with paddle.utils.unique_name.guard():
            yield
    finally:
        if was_static:
            paddle.enable_static()
