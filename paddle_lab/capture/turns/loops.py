"""What is known of loops and code objects before they run."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Final, TypeAlias

Span: TypeAlias = tuple[int, int, int, int]
"""First line, first column, last line, column after the last. Columns count bytes of UTF-8."""

IS_HEADER: Final = 1
"""What fetches the next value, or computes the condition: before the body of the turn."""
IS_REPEATING: Final = 2
"""A call that may call others several times."""


@dataclass
class Loop:
    """A loop: where it stands in the source, what tells its turns, and its place in a code object.

    Attributes
    ----------
    words
        What a turn is called: ``epoch`` of ``for epoch in range(3)``.
    line
        Where it begins.
    whole, header
        The statement, and what is computed before each turn: a ``while``'s condition.
    bodies
        What each turn runs.
    is_while
        Whether the header is a condition.
    names
        Variables that the body leaves alone: where one changes, a turn begins.
    shown
        Variables of which one may be shown beside the turn.
    around
        Variables that the loop around assigns before or after this one: where one changes between
        two turns of this loop, it was left and begun anew.
    counts
        Whether ``names[0]`` counts the turns.
    start
        The counter's value in the first turn; None where the source does not tell.
    step
        What each turn adds to it.
    step_end
        Of ``while``: where the body has added the step. Behind that the value is the next turn's.
    key
        Row of the record's table ``loops``.
    name
        Key of the name that its turns' scopes have.
    parent
        The loop around it, by its number in the same code object; -1 for none.
    level
        How many loops are around it.
    order
        Where it stands among the instructions: its first one's order.
    stepped_after
        The order behind which the counter has the next turn's value; -1 for none.
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
    name: int = -1
    parent: int = -1
    level: int = 0
    order: int = 0
    stepped_after: int = -1


@dataclass
class CodeLoops:
    """What is known of a code object before it runs.

    Attributes
    ----------
    name
        Key of the name that scopes of its calls have; -1 where calls are no scopes.
    units
        Three integers per instruction (``f_lasti // 2``): the innermost loop whose turn it belongs
        to, -1 for none; its place among the others of the code as a turn comes by them; and
        :data:`IS_HEADER`, :data:`IS_REPEATING`. Empty if the code has no loop.
    """

    name: int
    units: array[int] = field(default_factory=lambda: array("i"))
    loops: list[Loop] = field(default_factory=list)

    def at(self, unit: int) -> tuple[int, int, int]:
        """Return the loop, the place and the flags of an instruction."""
        loop, order, flags = self.units[3 * unit : 3 * unit + 3] or (-1, 0, 0)
        return loop, order, flags
