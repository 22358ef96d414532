"""Parameters of alternatives, of which each step takes some: experts, branches, dropped blocks.

Alternatives were made by the same lines, or are numbered in one list. They are chosen where some of
those that are read at all are read in one step and not in another; so a loop that misses the last
of a list is none of it.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.gradients.creations import Creations
from paddle_lab.analysis.findings.gradients.trained import Trained

_NUMBER = re.compile(r"(?<![^.])\d+(?![^.])")


def is_alternative(facts: Facts, parameter: int) -> bool:
    """Tell whether a parameter that no op reads is one of several that are chosen from."""
    return _kind(facts, parameter) in facts.answer(_chosen_kinds)


def _chosen_kinds(facts: Facts) -> frozenset[object]:
    """Return the kinds of parameters of which an optimizer's steps read now these, now those."""
    read_in: dict[object, set[frozenset[int]]] = {}
    for parameter, ops in facts.answer(Trained).used.items():
        steps = frozenset(bisect_right(facts.step_ends, op) for op in ops)
        read_in.setdefault(_kind(facts, parameter), set()).add(steps)
    return frozenset(kind for kind, steps in read_in.items() if len(steps) > 1)


def _kind(facts: Facts, parameter: int) -> object:
    """Return what makes parameters alternatives of each other."""
    shape, lines = facts.shape(parameter), facts.answer(Creations).lines.get(parameter)
    if lines:
        return shape, tuple(lines)
    path = facts.path(parameter)
    return (shape, _NUMBER.sub("#", path)) if _NUMBER.search(path) else parameter
