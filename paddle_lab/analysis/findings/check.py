"""The definition of a check: its name, its function, its example and its requirements."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.finding import Found
from paddle_lab.trace.limit import KEEPS, Keep
from paddle_lab.words import say

Evidence = Literal["events", "values", "gradients", "rerun", "cuda"]
"""What a trace records for checks in addition to ops and graphs.

``events`` costs next to nothing and is always recorded; ``values`` examines the numbers in every
tensor; ``gradients`` examines every gradient; ``rerun`` runs the code a second time;
``cuda`` waits for the GPU after every op.
"""


@dataclass(frozen=True)
class Check:
    """One check; its module in :mod:`paddle_lab.analysis.findings.checks` calls it ``CHECK``."""

    kind: str
    """The kind of its findings, and its name in ``check=``."""
    find: Callable[[Facts], Iterable[Found]]
    example: str
    """A few lines with the bug, for the documentation."""
    needs: tuple[Evidence, ...] = ("events",)
    consequence_of: tuple[str, ...] = ()
    """If this check and one of these kinds find an error, this error is only the consequence."""
    holds_on: tuple[Keep, ...] = KEEPS
    """A limited trace keeps a part of a long run; on these parts the check gives no false alarm."""
    most: int = 20
    """How many findings are kept: a mistake can be found at every op."""

    shared_cost: str = ""
    """The name of a text that several checks have as their cost."""

    @property
    def title(self) -> str:
        """The bug that it looks for, in a few words."""
        return say(f"findings.{self.kind}.title")

    @property
    def advice(self) -> str:
        """What to do about it, in a sentence or two."""
        return say(f"findings.{self.kind}.advice")

    @property
    def cost(self) -> str:
        """Its cost while the code runs, in a few words."""
        return say(f"findings.{self.shared_cost or self.kind}.cost")
