"""What a check is: one file with its docstring, its example and its advice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.finding import Found
from paddle_lab.trace.limit import KEEPS, Keep
from paddle_lab.words import say

Evidence = Literal["events", "values", "gradients", "rerun", "cuda"]
"""What a trace records for checks besides ops and graphs.

``events`` costs next to nothing and is always recorded; ``values`` looks at the numbers in every
tensor; ``gradients`` at those in every gradient; ``rerun`` runs the code once more;
``cuda`` waits for the GPU after every op.
"""


@dataclass(frozen=True)
class Check:
    """One check, as a module in :mod:`paddle_lab.analysis.findings.checks` has it: ``CHECK``."""

    kind: str
    """What its findings are called, and its name in ``check=``."""
    find: Callable[[Facts], Iterable[Found]]
    example: str
    """A few lines with the bug, for the documentation."""
    needs: tuple[Evidence, ...] = ("events",)
    consequence_of: tuple[str, ...] = ()
    """Kinds whose findings are the cause where both are found."""
    holds_on: tuple[Keep, ...] = KEEPS
    """On which part of a long run it raises no false alarm: what a limited trace kept."""

    @property
    def title(self) -> str:
        """What it looks for, in a few words."""
        return say(f"findings.{self.kind}.title")

    @property
    def advice(self) -> str:
        """What to do about it, in a sentence or two."""
        return say(f"findings.{self.kind}.advice")

    @property
    def cost(self) -> str:
        """What it costs while the code runs, in a few words."""
        return say(f"findings.{self.kind}.cost")
