"""At which lines parameters were created."""

from __future__ import annotations

from functools import cached_property

from paddle_lab.analysis.findings.facts import PARAMETER, Facts
from paddle_lab.analysis.findings.place import Place
from paddle_lab.analysis.source.stacks import stack_of


class Creations:
    """The user's lines through which parameters were created, by their first values.

    Parameters
    ----------
    facts
        The record that is asked.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    @cached_property
    def lines(self) -> dict[int, list[Place]]:
        """The user's lines from the innermost out; none for what was there before the trace."""
        return {parameter: self._user_lines(stack) for parameter, stack in self._stacks.items()}

    def place(self, parameter: int, others: list[int]) -> Place:
        """Return the innermost line that created a parameter and none of the others.

        A function that makes layers makes good ones too; then the line that called it says more.
        Where no line tells them apart, it is the innermost.
        """
        return self.place_of_all([parameter], others)

    def place_of_all(self, parameters: list[int], others: list[int]) -> Place:
        """Return the innermost line that created all of some parameters and none of the others.

        Where no line tells them apart, it is the innermost that created all.
        """
        first, *rest = parameters
        lines = self.lines.get(first, [])
        for one in rest:
            lines = [line for line in lines if line in self.lines.get(one, ())]
        shared = {line for other in others for line in self.lines.get(other, ())}
        own = [line for line in lines if line not in shared]
        return next(iter(own or lines), Place())

    @cached_property
    def _stacks(self) -> dict[int, int]:
        facts, record = self._facts, self._facts.record
        stacks: dict[int, int] = {}
        for event in facts.events("created"):
            tensor = int(record.events["tensor"][event])
            if tensor >= 0 and facts.tensor_kind(tensor) == PARAMETER:
                first = facts.first_value(tensor)
                stacks.setdefault(first, int(record.events["stack"][event]))
        return stacks

    def _user_lines(self, stack: int) -> list[Place]:
        frames = stack_of(self._facts.record, stack)
        return [Place.of(frame) for frame in frames if frame.kind == "user"]
