"""Finds the compiled programs that a call runs.

A function of ``paddle.jit.to_static`` runs one program if it was compiled whole. If SOT split it,
it runs several programs, with Python between them. ``paddle.static.Executor`` runs the program that
it is given. Paddle has no public way to ask which programs ran, so private names are used. If one
is missing, only the counts are lost; the user's call still runs.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.recorder.program_log import Run

Before = Callable[[Any, Any], Callable[[Any], object]]
"""Gets a program layer and its arguments before it runs, and returns a function for the result."""


class _Running(threading.local):
    """The program layers that ran in the block of :func:`running_layers`, for each thread."""

    layers: list[Any] | None = None
    before: Before = staticmethod(lambda _layer, _given: lambda _result: None)


_running = _Running()


def program_layer_patches(_paddle: Any) -> list[AttributePatch]:
    """Return the patch that notes which program layers run. It stays while others are removed.

    SOT translates the functions that it meets, except those of Paddle's own files. So the wrapper's
    code gets the file name of the function that it wraps.
    """
    file = DOOR.run_program.__code__.co_filename
    running = _running

    def around(call: Any) -> Callable[..., Any]:
        def run(self: Any, *args: Any, **kwargs: Any) -> Any:
            if running.layers is None:
                return call(self, *args, **kwargs)
            running.layers.append(self)
            ended = running.before(self, args)
            result = call(self, *args, **kwargs)
            ended(result)
            return result

        run.__code__ = run.__code__.replace(co_filename=file)
        return run

    return [DOOR.patch("run_program", around)]


@contextmanager
def running_layers(before: Before | None = None) -> Iterator[list[Any]]:
    """Collect the program layers that run in one call.

    Parameters
    ----------
    before
        Is called before each program layer runs.
    """
    outer = _running.layers, _running.before
    _running.layers, _running.before = [], before or outer[1]
    try:
        yield _running.layers
    finally:
        _running.layers, _running.before = outer


def runs_of_layers(layers: list[Any]) -> list[Run]:
    """Return the programs that some layers ran."""
    return [run for run in map(_run_of_layer, layers) if run is not None]


def _run_of_layer(layer: Any) -> Run | None:
    try:
        program = DOOR.program_of(layer)
        forward, backward = DOOR.forward_program(program), DOOR.backward_program(program)
        return Run(program, forward, backward, list(DOOR.program_parameters(layer)))
    except Exception:  # noqa: BLE001  (another version of Paddle: the program has run anyway)
        return None


def run_of_executor(executor: Any, args: Any, kwargs: Any) -> Run:
    """Return the program of a call of ``Executor.run``. Values that cannot be read are left out."""
    import paddle

    given = dict(zip(("program", "feed", "fetch_list"), args, strict=False)) | kwargs
    program = given.get("program")
    if program is None:
        program = paddle.static.default_main_program()
    if isinstance(program, paddle.static.CompiledProgram):
        program = DOOR.compiled_program(program) or program
    feed, fetches = given.get("feed") or {}, given.get("fetch_list") or ()
    if isinstance(feed, list | tuple):
        feed = feed[0] if feed else {}
    if not isinstance(fetches, list | tuple):
        fetches = (fetches,)
    place = re.sub(r"^Place\((.*)\)$", r"\1", str(executor.place))
    return Run(
        program, program, None, [],
        feeds=", ".join(f"{name}{_shape(value)}" for name, value in feed.items()),
        fetches=", ".join(map(_fetched, fetches)),
        place=place,
    )  # fmt: skip


def _shape(value: Any) -> str:
    shape = getattr(value, "shape", None)
    if callable(shape):  # a DenseTensor has a method
        shape = shape()
    return "" if shape is None else f" {list(shape)}"


def _fetched(value: Any) -> str:
    """Return a readable name of a fetched value: the value's name, or the name of its op."""
    if isinstance(value, str):
        return value
    # A PIR value has a name only if the user's code named the value.
    with suppress(Exception):
        return str(value.name)
    try:
        return str(value.get_defining_op().name()).removeprefix("pd_op.")
    except Exception:  # noqa: BLE001
        return type(value).__name__
