"""The calls of a trace that can run again: functions, arguments, tensors they read and write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from paddle_lab.capture.replay.call_tape import TENSOR

if TYPE_CHECKING:
    from paddle_lab.capture.replay.call_tape import CallTape

BACKWARD = ("run_backward", "run_partial_grad")
"""Names of the calls that read the tensors that earlier ops saved."""

PYLAYER: Final[Any] = object()
"""The function of a call of a PyLayer. A replay returns the outputs that the ops inside it made."""
PROGRAM: Final[Any] = object()
"""The function of a call of ``to_static``. The programs that it ran are calls of their own."""
HOOK: Final[Any] = object()
"""The function of a call that put a hook on a tensor."""
WRITE: Final[Any] = object()
"""The function of a row that says: the memory of a tensor was found to be written without an op."""


class Irreplayable(Exception):  # noqa: N818  (a reason, not a fault)
    """A value cannot be computed again. The message is a sentence for the user."""


@dataclass(slots=True)
class Special:
    """What a few ops need to run again, in addition to their arguments."""

    writes: list[int] = field(default_factory=list)
    """The storages that the call writes in place."""
    random_states: list[Any] | None = None
    """The states of the random generators before the call, if the op may draw random numbers."""
    amp: Any = None
    """The state of automatic mixed precision, ``None`` if it was off."""
    leaves: list[int] = field(default_factory=list)
    """The leaves whose gradients a backward call made, in the order of these gradients."""
    earlier: list[int] = field(default_factory=list)
    """For each leaf: the gradient that it had before; -1 for none."""
    without_graph: bool = False
    """Whether no graph was built, for an op that may write a tensor with a graph."""
    replaces: int = -1
    """For a :data:`WRITE`: the number that the tensor had before."""


@dataclass(slots=True)
class RecordedCall:
    """One call of an op, or of a backward function, with all that it needs to run again."""

    key: int = -1
    """The key of the op; -1 for a call that is no op."""
    at: int = -1
    """The call's position in the tape."""
    function: Callable[..., Any] | None = None
    """``None`` if the call cannot run again."""
    name: str = ""
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] | None = None
    reads: list[int] = field(default_factory=list)
    """The numbers of the tensors among the arguments."""
    stops: list[bool] = field(default_factory=list)
    """For each of these tensors: its ``stop_gradient``."""
    made: list[int] = field(default_factory=list)
    """The numbers of the returned tensors, in order."""
    builds_graph: bool = False
    special: Special = field(default_factory=Special)
    passed: list[RecordedCall] = field(default_factory=list)
    """For a PyLayer or hook: the gradients that it returned, one row for each backward call."""

    @property
    def needs(self) -> list[int]:
        """The numbers of all tensors that must exist before the call runs."""
        more = self.special.leaves + [number for number in self.special.earlier if number >= 0]
        return [*self.reads, *more, *(number for row in self.passed for number in row.reads)]


Result = tuple[int, int, bool, list[int]]


def results_of(tape: CallTape, end: int | None = None) -> Iterator[Result]:
    """Yield for each noted call: its key and position, whether it built a graph, and its results.

    Parameters
    ----------
    end
        Where to stop in ``tape.results``.
    """
    cells = tape.results.to_list(0, end)
    start = 0
    while start < len(cells):
        key, at, builds_graph, count = cells[start : start + 4]
        yield key, at, bool(builds_graph), cells[start + 4 : start + 4 + count]
        start += 4 + count


def recorded_call(tape: CallTape, at: int, special: dict[int, Special]) -> RecordedCall:
    """Return the call at a position of the tape."""
    if at < 0:
        return RecordedCall()
    first, count = tape.calls.to_list(at, at + 2)
    reads = tape.calls.to_list(at + 2, at + 2 + count)
    function, name, args, kwargs = tape.objects[first : first + 4]
    return RecordedCall(
        at=at,
        function=function,
        name=name,
        args=args,
        kwargs=kwargs,
        reads=[read >> 1 for read in reads],
        stops=[bool(read & 1) for read in reads],
        builds_graph=name in BACKWARD,
        special=special.get(at) or Special(),
    )


def thawed(value: Any, tensors: Iterator[Any]) -> Any:
    """Return a copy of noted arguments in which tensors replace the marks."""
    if value is TENSOR:
        return next(tensors)
    kind = type(value)
    if kind is list or kind is tuple:
        return kind([thawed(one, tensors) for one in value])
    if kind is dict:
        return {name: thawed(one, tensors) for name, one in value.items()}
    return value


def tensors_in(result: Any, tensor_type: type) -> Iterator[Any]:
    """Yield the tensors of an op's result, in order."""
    if isinstance(result, tensor_type):
        yield result
    elif isinstance(result, (list, tuple, dict)):
        for one in result.values() if isinstance(result, dict) else result:
            yield from tensors_in(one, tensor_type)
