"""Facts about loops and code objects that are known before the code runs."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Final, TypeAlias

Span: TypeAlias = tuple[int, int, int, int]
"""First line, first column, last line, column after the last. Columns count bytes of UTF-8."""

IS_HEADER: Final = 1
"""An instruction before an iteration's body, which gets the next value or tests the condition."""
IS_REPEATING: Final = 2
"""A call of a function that may call others several times."""


@dataclass
class Loop:
    """A loop: its place in the source and in a code object, and how to distinguish its iterations.

    Attributes
    ----------
    words
        The name of an iteration: ``epoch`` of ``for epoch in range(3)``.
    line
        The first line of the loop.
    whole, header
        The whole statement; and the condition of a ``while``, or the iterable of a ``for``.
    bodies
        The parts of the source that each iteration runs.
    is_while
        Whether the header is a condition.
    names
        Variables that the body does not assign. A new iteration begins when one of them changes.
    shown
        Variables whose value may be shown with the iteration; ``""`` for one that may not.
    around
        Variables that the outer loop assigns before or after this loop. If one changes between two
        iterations of this loop, this loop has ended and begun again.
    counts
        Whether ``names[0]`` counts the iterations.
    start
        The counter's value in the first iteration; None if the source does not show the value.
    step
        The number that each iteration adds to the counter.
    step_end
        For ``while``: the position after the step. From there on, the value belongs to the next
        iteration.
    key
        Row of the record's table ``loops``.
    modes
        For Paddle's own training loop: the rows for iterations that train, evaluate and predict.
    name
        The key of the name that the scopes of iterations have.
    parent
        The enclosing loop, by its number in the same code object; -1 for none.
    level
        How many loops enclose the loop.
    order
        The order of the loop's first instruction.
    stepped_after
        From this order on, the counter has the value of the next iteration; -1 for none.
    """

    words: str
    line: int
    whole: Span
    header: Span
    bodies: list[Span]
    is_while: bool = False
    names: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    around: tuple[str, ...] = ()
    counts: bool = False
    start: int | None = None
    step: int = 0
    step_end: tuple[int, int] | None = None
    key: int = -1
    modes: dict[object, int] = field(default_factory=dict)
    name: int = -1
    parent: int = -1
    level: int = 0
    order: int = 0
    stepped_after: int = -1


@dataclass
class CodeLoops:
    """Facts about a code object that are known before it runs.

    Attributes
    ----------
    name
        The key of the name that the scopes of calls have; -1 if calls are not scopes.
    units
        Three integers per instruction (``f_lasti // 2``): its innermost loop, -1 for none; its
        position in the order in which an iteration runs; and the flags :data:`IS_HEADER` and
        :data:`IS_REPEATING`. Empty if the code has no loop.
    """

    name: int
    units: array[int] = field(default_factory=lambda: array("i"))
    loops: list[Loop] = field(default_factory=list)

    def at(self, unit: int) -> tuple[int, int, int]:
        """Return the loop, the order and the flags of an instruction."""
        loop, order, flags = self.units[3 * unit : 3 * unit + 3] or (-1, 0, 0)
        return loop, order, flags
