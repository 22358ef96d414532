"""Compiled programs that ran: how many ops they have, what they read, how often they ran.

A function that ``paddle.jit.to_static`` made runs one program where it was compiled whole, and
several where SOT cut it into pieces, with Python between them. ``paddle.static.Executor`` runs the
program that it is given. Paddle has no public way to ask which programs ran, so each private name
is asked for with care: what is missing costs the counts, never the user's call.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.trace.schema import PROGRAM_KINDS

if TYPE_CHECKING:
    from paddle_lab.capture.tables.row_keys import RecordKeys
    from paddle_lab.trace.table import StringPool, TableBuilder

FULL_GRAPH, SOT, EXECUTOR = (PROGRAM_KINDS.index(kind) for kind in PROGRAM_KINDS)

_PARAMETER: Final = "builtin.parameter"
_NO_COMPUTATION: Final = ("pd_op.data", "pd_op.feed", "pd_op.fetch", "feed", "fetch")


class Counts(NamedTuple):
    """What a program has."""

    ops: int
    """Those that compute."""
    all_ops: int
    """As ``len(program.global_block().ops)`` says: parameters, inputs and outputs are ops too."""
    parameters: int


NOTHING: Final = Counts(0, 0, 0)
NO_PROGRAM: Final = -1


class Run(NamedTuple):
    """A program that ran."""

    program: Any
    """The object that stands for it: the same in each of its runs."""
    forward: Any
    backward: Any
    parameters: list[Any]
    """Those that are tensors of the traced program."""
    feeds: str = ""
    fetches: str = ""
    place: str = ""


class ProgramLog:
    """The programs that ran in one trace."""

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []
        """Op, kind, and the other columns of the table in their order."""
        # Holds them as long as the trace is recorded: the identity of what has died is used again.
        self._known: dict[int, tuple[Any, int, Counts, Counts]] = {}

    def note(self, op: int, kind: int, runs: Iterable[Run]) -> None:
        """Note which programs an op ran; that it ran none is noted too."""
        rows = len(self.rows)
        for run in runs:
            known = self._known.get(id(run.program))
            if known is None:
                number = len(self._known)
                known = run.program, number, counts_of(run.forward), counts_of(run.backward)
                self._known[id(run.program)] = known
            _, number, forward, backward = known
            counts = (*forward[:2], *backward[:2], forward.parameters)
            self.rows.append((op, kind, number, *counts, run.feeds, run.fetches, run.place))
        if len(self.rows) == rows:
            self.rows.append((op, kind, NO_PROGRAM, 0, 0, 0, 0, 0, "", "", ""))

    def forget(self, ops: frozenset[int]) -> None:
        """Forget what ran in ops that the trace does not keep."""
        self.rows = [row for row in self.rows if row[0] not in ops]

    def add_rows(self, builder: TableBuilder, strings: StringPool, keys: RecordKeys) -> None:
        """Fill the table ``programs``."""
        for op, *numbers, feeds, fetches, place in self.rows:
            texts = (strings[text] for text in (feeds, fetches, place))
            builder.append(keys.ops.row(op), *numbers, *texts)


def counts_of(program: Any) -> Counts:
    """Return how many ops a program has; none of what is no program, or cannot be asked."""
    try:
        ops = program.global_block().ops
        names = [op.name() if callable(getattr(op, "name", None)) else op.type for op in ops]
    except Exception:  # noqa: BLE001  (another version's program: its counts are not known)
        return NOTHING
    computing = [
        name
        for name in names
        if name not in _NO_COMPUTATION and not name.startswith(("builtin.", "cf."))
    ]
    return Counts(len(computing), len(names), names.count(_PARAMETER))


# -- to_static ------------------------------------------------------------------------------------


class _Running(threading.local):
    """The program layers that have run in the present call, by thread."""

    layers: list[Any] | None = None


_running = _Running()


def program_layer_patches() -> list[AttributePatch]:
    """Return the patch that notes which program layers run; it stays where other hooks step aside.

    SOT translates what it meets, and leaves Paddle's own files alone. So the wrapper says that it
    is of the file of what it wraps.
    """
    file = DOOR.run_program.__code__.co_filename
    running = _running

    def around(call: Any) -> Callable[..., Any]:
        def run(self: Any, *args: Any, **kwargs: Any) -> Any:
            if running.layers is not None:
                running.layers.append(self)
            return call(self, *args, **kwargs)

        run.__code__ = run.__code__.replace(co_filename=file)
        return run

    return [DOOR.patch("run_program", around)]


@contextmanager
def running_layers() -> Iterator[list[Any]]:
    """Collect the program layers that run in one call."""
    outer, _running.layers = _running.layers, []
    try:
        yield _running.layers
    finally:
        _running.layers = outer


def runs_of_layers(layers: list[Any]) -> list[Run]:
    """Return which programs some layers ran."""
    return [run for run in map(_run_of_layer, layers) if run is not None]


def _run_of_layer(layer: Any) -> Run | None:
    try:
        program = DOOR.program_of(layer)
        forward, backward = DOOR.forward_program(program), DOOR.backward_program(program)
        return Run(program, forward, backward, list(DOOR.program_parameters(layer)))
    except Exception:  # noqa: BLE001  (another version's: it has run all the same)
        return None


# -- Executor -------------------------------------------------------------------------------------


def run_of_executor(paddle: Any, executor: Any, args: Any, kwargs: Any) -> Run:
    """Return what a call of ``Executor.run`` ran; what cannot be asked is left out."""
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
    if callable(shape):  # of a DenseTensor
        shape = shape()
    return "" if shape is None else f" {list(shape)}"


def _fetched(value: Any) -> str:
    """Return what a person calls something that was fetched: its name, or the op that makes it."""
    if isinstance(value, str):
        return value
    # Values of PIR have a name only where they were given one.
    with suppress(Exception):
        return str(value.name)
    try:
        return str(value.get_defining_op().name()).removeprefix("pd_op.")
    except Exception:  # noqa: BLE001
        return type(value).__name__
