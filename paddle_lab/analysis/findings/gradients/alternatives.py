"""Parameters of alternatives, of which each step takes some: experts, branches, dropped blocks."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.gradients.creations import Creations
from paddle_lab.analysis.findings.gradients.trained import Trained

_NUMBER = re.compile(r"(?<![^.])\d+(?![^.])")


class Alternatives:
    """Which parameters belong to alternatives that are chosen anew in each step.

    Alternatives were made by the same lines, or are numbered in one list. They are chosen where
    some of those that are read at all are read in one step and not in another; so a loop that
    misses the last of a list is none of it.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._used = facts.answer(Trained).used
        self._lines = facts.answer(Creations).lines

    def has(self, parameter: int) -> bool:
        """Tell whether a parameter that no op reads is one of several that are chosen from."""
        kin = self._kin.get(self._kind(parameter), [])
        steps = [self._steps(self._used[one]) for one in kin]
        return any(one != steps[0] for one in steps)

    @cached_property
    def _kin(self) -> dict[object, list[int]]:
        """Parameters that ops read, by what makes them alternatives of each other."""
        kin: dict[object, list[int]] = {}
        for parameter in self._used:
            kin.setdefault(self._kind(parameter), []).append(parameter)
        return kin

    def _kind(self, parameter: int) -> object:
        shape = self._facts.shape(parameter)
        lines = self._lines.get(parameter)
        if lines:
            return shape, tuple(lines)
        path = self._facts.path(parameter)
        return (shape, _NUMBER.sub("#", path)) if _NUMBER.search(path) else parameter

    def _steps(self, ops: Iterable[int]) -> frozenset[int]:
        """Return in which steps of an optimizer ops lie."""
        return frozenset(bisect_right(self._facts.step_ends, op) for op in ops)
