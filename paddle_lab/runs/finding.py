"""A problem in a run."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Literal

from paddle_lab.runs.rank_log import NOWHERE, Place
from paddle_lab.words import say

Kind = Literal[
    "collective-mismatch",
    "collective-order",
    "gradient-on-some-ranks",
    "parameters-differ",
    "dropout-differs",
    "hang",
    "rank-raised",
    "rank-died",
    "rank-missing",
    "setup",
]


@dataclass(frozen=True)
class RunFinding:
    """A finding about several ranks, or about one of them."""

    kind: Kind
    message: str
    """What is wrong, in a sentence or two."""
    advice: str
    ranks: tuple[int, ...]
    """The ranks that cause the problem, because they do not do what the other ranks do."""
    places: dict[int, Place] = field(default_factory=dict)
    """Maps each rank to a file and line."""
    time_ns: int = 0
    """When the problem began, in ns since 1970."""
    severity: Literal["error", "warning"] = "error"

    @property
    def file(self) -> str:
        """The file where the first of these ranks is."""
        return self._at[0]

    @property
    def line(self) -> int:
        """The line where the first of these ranks is; 0 if the line is unknown."""
        return self._at[1]

    @property
    def _at(self) -> Place:
        return next((self.places[rank] for rank in self.ranks if rank in self.places), NOWHERE)

    def __str__(self) -> str:
        sign = say(f"page.severity_in_text.{self.severity}")
        lines = [f"{sign} {self.kind}: {self.message}"]
        lines += [f"  {ranks_said(ranks)}: {place_said(place)}" for ranks, place in self.rows]
        return "\n".join([*lines, f"  {self.advice}"])

    @property
    def rows(self) -> list[tuple[list[int], Place]]:
        """The places, each with its ranks. The ranks that cause the problem have their own row."""
        found: dict[tuple[Place, bool], list[int]] = {}
        for rank, place in sorted(self.places.items()):
            found.setdefault((place, rank in self.ranks), []).append(rank)
        return [(ranks, place) for (place, _), ranks in found.items()]


def place_said(place: Place) -> str:
    """Return a place as readable text, without the folders of its file."""
    file, line = place
    return f"{os.path.basename(file)}:{line}" if line else say("runs.nowhere")


def ranks_said(ranks: list[int] | tuple[int, ...], *, begins: bool = False) -> str:
    """Return ranks as readable text: ``ranks 0, 2–5``; at the beginning of a sentence ``Ranks``."""
    spans: list[list[int]] = []
    for rank in sorted(ranks):
        if spans and rank == spans[-1][-1] + 1:
            spans[-1].append(rank)
        else:
            spans.append([rank])
    texts = [
        f"{span[0]}–{span[-1]}" if len(span) > 2 else ", ".join(map(str, span)) for span in spans
    ]
    name = ("first" if begins else "rank") + ("s" if len(ranks) > 1 else "")
    return say(f"runs.{name}", **{"ranks" if len(ranks) > 1 else "rank": ", ".join(texts)})
