"""Runs a model on a copy of its state, so that a check leaves nothing behind."""

from __future__ import annotations

import io
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.export.guarded_source import GuardedTranslation
from paddle_lab.capture.hooks.patches import AttributePatch, applied
from paddle_lab.capture.rerun.state import StateBefore


class Isolation:
    """The state of a model before a check. Each run begins with it.

    Parameters
    ----------
    paddle
        The paddle module.
    roots
        The model and its inputs.
    """

    def __init__(self, paddle: Any, roots: list[Any]) -> None:
        self._names = paddle.utils.unique_name
        self._state = StateBefore(paddle, roots)

    @contextmanager
    def again(self) -> Iterator[None]:
        """Restore the state for a block, and undo the block's changes. It prints nothing."""
        # Paddle refuses to create a second parameter of the same name. It sorts the variables of a
        # loop by name, and the names that it adds itself begin with "__".
        names = self._names.guard("__paddle_lab_")
        arguments = applied(AttributePatch(DOOR.static_block, "args", _copying))
        with self._state.again(), names, arguments, redirect_stdout(io.StringIO()):
            yield


def _copying(arguments: Any) -> Any:
    """Return values that own their memory. Those of Paddle 3.3 point into a vector of the block.

    ``while_loop`` keeps the last one in a variable, while the block gets another argument, so that
    the vector moves. If the vector of the loop's results comes to lie at the old address, pybind11
    takes the kept object for one of the results. It crashes when Paddle uses it.
    """
    return lambda block: [DOOR.copy_value(value) for value in arguments(block)]


@contextmanager
def own_cache(translation: GuardedTranslation | None = None) -> Iterator[None]:
    """Let Paddle translate functions into a cache that only this block uses.

    Parameters
    ----------
    translation
        Translates the functions; by default Paddle does.
    """
    known = dict(DOOR.origins)
    cache = type(DOOR.function_cache)()
    if translation is not None:
        cache._dygraph_to_static = translation
    try:
        with applied(DOOR.patch("function_cache", lambda _: cache)), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        DOOR.origins.clear()
        DOOR.origins.update(known)


@contextmanager
def plain_python() -> Iterator[None]:
    """Make translated code cast, assert and call PyLayers as Python does, for an eager run."""
    patches = [
        DOOR.patch("load_name", lambda _: lambda name: name),
        DOOR.patch("cast", lambda _: lambda value, kind: _CASTS[kind](value)),
        # Paddle would translate a function of ours, but not a lambda.
        DOOR.patch("assertion", lambda _: lambda *said: _asserted(*said)),  # noqa: PLW0108
    ]
    with applied(*patches):
        yield


@contextmanager
def temporary_place() -> Iterator[str]:
    """Make a directory for a ``with`` block; yield the path prefix for a model inside."""
    directory = tempfile.mkdtemp(prefix="paddle_lab_export")
    try:
        yield str(Path(directory) / "model")
    finally:
        shutil.rmtree(directory, ignore_errors=True)


_CASTS: dict[str, Callable[[Any], Any]] = {
    "bool": bool, "int": int, "float": float, "complex": complex,
}  # fmt: skip


def _asserted(condition: Any, message: Any = "") -> None:
    assert condition, message
