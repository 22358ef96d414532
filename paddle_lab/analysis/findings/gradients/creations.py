"""At which lines parameters were created."""

from __future__ import annotations

from functools import cached_property

from paddle_lab.analysis.findings.facts import PARAMETER, Facts
from paddle_lab.analysis.findings.place import Place
from paddle_lab.analysis.source.stacks import stack_of


class Creations:
    """The user's lines through which parameters were created, by their first values."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    @cached_property
    def lines(self) -> dict[int, list[Place]]:
        """The user's lines from the innermost out; none for what was there before the trace."""
        facts = self._facts
        stacks: dict[int, int] = {}
        for event in facts.events("created"):
            if event.tensor >= 0 and facts.tensor_kind(event.tensor) == PARAMETER:
                stacks.setdefault(facts.first_value(event.tensor), event.stack)
        return {
            parameter: [
                Place.of(one) for one in stack_of(facts.record, stack) if one.kind == "user"
            ]
            for parameter, stack in stacks.items()
        }

    def place(self, parameters: list[int], others: list[int]) -> Place:
        """Return the innermost line that created all of some parameters and none of the others.

        A function that makes layers makes good ones too; then the line that called it says more.
        Where no line tells them apart, it is the innermost that created all.
        """
        first, *rest = parameters
        lines = self.lines.get(first, [])
        for one in rest:
            lines = [line for line in lines if line in self.lines.get(one, ())]
        shared = {line for other in others for line in self.lines.get(other, ())}
        own = [line for line in lines if line not in shared]
        return next(iter(own or lines), Place())
