"""The definition of a check: its name, its function, its example and its requirements."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.finding import Found
from paddle_lab.trace.limit import KEEPS, Keep
from paddle_lab.words import beginnings, say

Evidence = Literal["events", "values", "gradients", "rerun", "cuda"]
"""What a trace records for checks in addition to ops and graphs.

``events`` costs next to nothing and is always recorded; ``values`` examines the numbers in every
tensor; ``gradients`` examines every gradient; ``rerun`` runs the code a second time;
``cuda`` waits for the GPU after every op.
"""
_OF_WHOLE_RUNS = frozenset(("steps", "sameness", "modes", "hooks"))


@dataclass(frozen=True)
class Check:
    """One check; its module in :mod:`paddle_lab.analysis.findings.checks` calls it ``CHECK``."""

    find: Callable[[Facts], Iterable[Found]]
    example: str
    """A few lines of code that have the bug; the documentation shows them."""
    kind: str = ""
    """The kind of the check's findings, and the check's name in ``check=``; by default the name of
    its module, with hyphens."""
    needs: tuple[Evidence, ...] = ("events",)
    consequence_of: tuple[str, ...] = ()
    """If a check of one of these kinds finds an error, this check's error is its consequence."""
    holds_on: tuple[Keep, ...] | None = None
    """The parts of a long run that a limited trace may keep without false alarms of the check. By
    default all; none for checks of groups that are about the whole run."""
    most: int = 20
    """How many findings are kept, because one mistake may be found at every op."""

    shared_cost: str = ""
    """The check whose text about the cost also holds for this check; ``""`` for none."""

    def __post_init__(self) -> None:
        if not self.kind:
            name = self.find.__module__.rpartition(".")[2].replace("_", "-")
            object.__setattr__(self, "kind", name)
        if self.holds_on is None:
            object.__setattr__(self, "holds_on", () if self.group in _OF_WHOLE_RUNS else KEEPS)

    @property
    def group(self) -> str:
        """What the check is about: the folder of its module, such as ``"axes"``."""
        return self.find.__module__.rsplit(".", 2)[-2]

    @property
    def title(self) -> str:
        """The bug that the check looks for, in a few words."""
        return say(f"findings.{self.kind}.title")

    @property
    def advice(self) -> str:
        """What the user can do about the bug, in a sentence or two."""
        return say(f"findings.{self.kind}.advice")

    @property
    def cost(self) -> str:
        """What the check costs while the user's code runs, in a few words."""
        own = f"findings.{self.shared_cost or self.kind}.cost"
        return say(own if beginnings(own) else "findings.always.cost")
