"""Runs a compiled function once to see its breaks, and then restores the state."""

from __future__ import annotations

import ast
import inspect
import io
import re
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from itertools import pairwise
from types import CodeType
from typing import Any, NamedTuple

from paddle_lab.capture.availability import require_paddle
from paddle_lab.capture.breaks.guards import changed_guard, changed_inputs
from paddle_lab.capture.breaks.rows import (
    BreakRow,
    RecompilationRow,
    break_rows,
    paddle_folder,
    recompilation_row,
    skipped_rows,
)
from paddle_lab.capture.breaks.sources import function_node, own_nodes
from paddle_lab.capture.breaks.spots import written_code
from paddle_lab.capture.breaks.watch import Recompiled, Watched, watching
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.hooks import HOOKS
from paddle_lab.capture.hooks.patches import applied
from paddle_lab.capture.hooks.programs import program_layer_patches, running_layers
from paddle_lab.capture.recorder.faults import described
from paddle_lab.capture.rerun.contents import container_restore, put_back
from paddle_lab.capture.rerun.reach import Unrepeatable
from paddle_lab.capture.rerun.state import StateBefore
from paddle_lab.capture.stacks.frame_kinds import TRANSLATED, is_own
from paddle_lab.words import listing, say

_FRESH = ("StepInfoManager", "CompileSIRCache", "SIRToCodeMap")
_TRACEBACK = re.compile(r"In user code:[\s\S]*?\n *(\w+(?:Error|Exception): .*)")
"""Paddle's error with a whole traceback in its text; the reason comes after that."""
_KEPT = ("InferMetaCache", "LayerInferMetaCache", "StatementIRFactory", "StaticFunctionManager")


class Explained(NamedTuple):
    """What a run of a compiled function did."""

    function: str
    """The function's name."""
    breaks: list[BreakRow]
    recompilations: list[RecompilationRow]
    pieces: int | None
    """How many compiled programs the call ran; None if unknown."""
    eager_ops: int | None
    """How many ops ran outside of these programs; None if unknown."""
    error: str
    """Why the explanation is incomplete; empty if it is complete."""
    has_small_pieces: bool = False
    """Whether SOT ran pieces eagerly because they have too few ops to be compiled."""


def explain(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Explained:
    """Run a function, a layer or the result of ``to_static``, and return its breaks.

    Everything is restored: parameters, buffers, variables, random generators, SOT's caches.
    """
    try:
        return _Explanation(require_paddle(), function, args, kwargs).run()
    except Unrepeatable as reason:
        told = say("breaks.not_run", reason=reason)
    except Exception as fault:  # noqa: BLE001  (the user asked about their code, not ours)
        told = say("breaks.fault", fault=_short(fault))
    return Explained(_name_of(function), [], [], None, None, told)


class _Explanation:
    def __init__(
        self, paddle: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        late = [one for one in ("graph_breaks", "sot_lines") if not DOOR.has(one)]
        lacking = DOOR.lacking("programs", "program_counts", "static_programs", *late)
        if lacking:
            raise Unrepeatable(say("notices.unchecked.door", names=listing(lacking)))
        self._paddle, self._function, self._args, self._kwargs = paddle, function, args, kwargs
        inner = function.forward if isinstance(function, paddle.nn.Layer) else function
        self._static = inner if isinstance(inner, DOOR.static_function) else None
        self._eager: Any = inner if self._static is None else DOOR.function_of_static(inner)
        self._is_sot = self._static is None or "Symbolic" in type(inner).__name__
        self._code: CodeType | None = getattr(self._eager, "__code__", None)
        owner = getattr(self._eager, "__self__", None)
        self._namespaces: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        self._state = StateBefore(paddle, [function, args, kwargs, owner])

    def run(self) -> Explained:
        with HOOKS.suspended(), _quiet(), _fresh_caches() as versions, self._names_put_back():
            watched = Watched()
            is_layer = isinstance(self._function, self._paddle.nn.Layer)
            name = _name_of(self._function if is_layer else self._eager)
            names: dict[str, Any] = getattr(self._eager, "__globals__", {})
            watched.namespaces = self._namespaces = {id(names): (names, dict(names))}
            earlier = self._earlier(versions)
            watched.versions = versions
            error = self._attempt(lambda: self._call_watched(watched))
            breaks = break_rows(watched.breaks)
            if self._is_sot and self._code is not None:
                breaks += skipped_rows(self._code)
            found = [recompilation_row(one) for one in (*earlier, *watched.recompilations)]
            recompilations = list(dict.fromkeys(found))
            if error is None:
                has_small = bool(watched.eager_lines)
                return Explained(name, breaks, recompilations, *self._counted(), "", has_small)
            own = self._attempt(lambda: self._eager(*self._args, **self._kwargs))
            if own is not None:
                place, error_text = _place(own), _short(own)
                if place:
                    told = say("breaks.raised_at", error=error_text, place=place)
                else:
                    told = say("breaks.raised", error=error_text)
                return Explained(name, breaks, recompilations, None, None, told)
            if not self._is_sot and self._code is not None:
                return Explained(name, [_unconverted(error, self._code)], [], None, None, "")
            told = say("breaks.paddle_failed", error=_short(error))
            if watched.breaks and "$resume_" in str(error):  # SOT's name of the code after a break
                last = break_rows(watched.breaks[-1:])[-1]
                told += say("breaks.paddle_failed_after", cause=last.cause, line=last.line)
            return Explained(name, breaks, recompilations, None, None, told)

    def _attempt(self, call: Callable[[], object]) -> BaseException | None:
        """Make the call from the saved state, and return the error that the call raises."""
        with self._state.again():
            try:
                call()
            except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever the code raises)
                return error
            finally:
                for names, before in self._namespaces.values():
                    names.update(before)
        return None

    @contextmanager
    def _names_put_back(self) -> Iterator[None]:
        """Remove the names that SOT, or the function, added to the function's globals."""
        try:
            yield
        finally:
            for names, before in self._namespaces.values():
                for name in [name for name in names if name not in before]:
                    del names[name]

    def _call(self) -> object:
        function = self._function
        if self._static is None:
            function = self._paddle.jit.to_static(function, full_graph=False)
        return function(*self._args, **self._kwargs)

    def _call_watched(self, watched: Watched) -> None:
        with watching(watched):
            self._call()
        with suppress(Exception):  # the call itself has succeeded
            if not self._is_sot and self._static is not None and self._code is not None:
                programs = self._static.program_cache.concrete_programs()
                names = list(inspect.signature(self._eager).parameters)
                for before, after in pairwise(programs):
                    missed = changed_inputs(names, before, after)
                    watched.recompilations.append(Recompiled(self._code, missed))

    def _counted(self) -> tuple[int | None, int | None]:
        """Run once more, from SOT's cache. Return how many programs and eager ops ran."""
        pieces: set[int] = set()
        eager_ops: int | None = None

        def call() -> None:
            nonlocal eager_ops
            profiler = _profiler()
            try:
                with running_layers() as layers:
                    self._call()
                pieces.update(map(id, layers))
            finally:
                result = None if profiler is None else DOOR.stop_profiler(profiler)
            if result is not None:
                eager_ops = _eager_ops(DOOR.event_trees(result))

        with applied(*program_layer_patches(self._paddle)):
            error = self._attempt(call)
        return (len(pieces), eager_ops) if error is None else (None, None)

    def _earlier(self, versions: dict[CodeType, list[Any]]) -> list[Recompiled]:
        """Return the recompilations before this run, found in the versions that SOT has kept."""
        found = []
        for code, guards in versions.items():
            if self._is_sot and self._code is not None and written_code(code) == self._code:
                for before, after in pairwise(guards):
                    missed = changed_guard(before, after)
                    if missed is not None:
                        found.append(Recompiled(self._code, missed))
        return found


@contextmanager
def _fresh_caches() -> Iterator[dict[CodeType, list[Any]]]:
    """Empty SOT's caches in a ``with`` block; yield the guards of the cached versions."""
    cache = DOOR.sot_cache()
    fresh = (type(cache).__name__, *_FRESH)
    versions = {code: [guard for _, guard in held[0]] for code, held in cache.cache.items()}
    restores = [container_restore(DOOR.resumed_codes)]
    for one in DOOR.sot_singletons.values():
        if type(one).__name__ in (*fresh, *_KEPT):
            dicts = [vars(one), *(held for held in vars(one).values() if isinstance(held, dict))]
            restores += map(container_restore, dicts)
            if type(one).__name__ in fresh:
                for held in dicts[1:]:
                    held.clear()
    try:
        yield versions
    finally:
        put_back(restores)


@contextmanager
def _quiet() -> Iterator[None]:
    """Do not show what the function prints."""
    nowhere = io.StringIO()
    with warnings.catch_warnings(), redirect_stdout(nowhere), redirect_stderr(nowhere):
        warnings.simplefilter("ignore")
        yield


def _profiler() -> Any:
    """Start Paddle's profiler; return ``None`` if it already runs or cannot be started."""
    if DOOR.lacking("allocations"):
        return None
    options = DOOR.profiler_options()
    options.trace_switch = 1  # record the host only
    profiler = DOOR.make_profiler(options, [])
    if profiler is not None:
        DOOR.prepare_profiler(profiler)
        DOOR.start_profiler(profiler)
    return profiler


def _eager_ops(trees: dict[int, Any]) -> int:
    """Count the ops that Paddle ran eagerly; an op that calls others counts once."""
    count, waiting = 0, list(trees.values())
    while waiting:
        node = waiting.pop()
        if DOOR.event_name(node).endswith(" dygraph"):
            count += 1
        else:
            waiting.extend(DOOR.events_inside(node))
    return count


def _unconverted(error: BaseException, code: CodeType) -> BreakRow:
    """Return why a function cannot be compiled as a whole, read from Paddle's message."""
    text = str(error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    said = next(
        (line for line in lines if re.match(r"[\w.]+(?:Error|Exception|Exit)\b: ", line)), ""
    )
    file, (line, cause) = code.co_filename, _left_loop(code)
    for match in re.finditer(
        r'File "([^"]+)", line (\d+), in .*\n((?:.*\n)*?)(?=\s*File|\Z)', text
    ):
        if TRANSLATED in match[1] or match[1].startswith(paddle_folder()):
            continue  # Paddle's own code, or its translation of the user's
        file, line = match[1], int(match[2])
        marked = re.search(r"^(.*)\n\s*~+ <--- HERE", match[3], re.MULTILINE)
        cause = (marked[1] if marked else match[3].partition("\n")[0]).strip()
    return BreakRow("full-graph", file, line, cause, said[:200], code.co_name, ())


def _left_loop(code: CodeType) -> tuple[int, str]:
    """Return the first loop that ``break`` or ``return`` leaves, else the function's line.

    Paddle's message has no line of the user's code if it cannot convert a loop's own condition.
    """
    node, text = function_node(code)
    for loop in own_nodes(node) if node is not None else ():
        is_loop = isinstance(loop, (ast.For, ast.While))
        if is_loop and any(isinstance(one, (ast.Break, ast.Return)) for one in own_nodes(loop)):
            line: int = getattr(loop, "lineno", 1)
            return line, text.splitlines()[line - 1].strip()
    return code.co_firstlineno, ""


def _place(error: BaseException) -> str:
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not is_own(frame.filename) and not frame.filename.startswith(paddle_folder())
    ]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def _short(error: BaseException) -> str:
    if isinstance(error, DOOR.sot_error):  # the reason comes last
        return str(error).strip().rpartition("\n")[2].strip()[:200]
    told = described(error)
    traceback_text = _TRACEBACK.search(told)
    told = traceback_text[1] if traceback_text else told
    return told.partition("\n")[0].rstrip(" .")[:200]


def _name_of(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))
