"""Which of the user's own calls led to a stack, outermost first.

A stack's *chain* is the stacks of the user's frames on the way to it. As stacks are a tree, so are
chains: the last one tells them all, and stands for them here.
"""

from __future__ import annotations

import numpy as np

from paddle_lab.analysis.trees import Keys, depths, nearest_marked
from paddle_lab.analysis.user_frames import user_stacks
from paddle_lab.trace.record import Record

_LONGEST_CHAIN = 32
"""Calls further in than this, as recursive functions make, are not told apart."""
_COMPREHENSIONS = ("<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>")


class UserCalls:
    """The chains of all stacks of a record; -1 stands for the chain without any frame.

    Parameters
    ----------
    record
        The trace.
    """

    def __init__(self, record: Record) -> None:
        frame, caller = record.stacks["frame"], record.stacks["caller"]
        codes = np.take(np.append(record.frames["function"], 0), frame)
        texts = record.strings
        names = [code for code, text in enumerate(texts) if text in _COMPREHENSIONS]
        is_call = user_stacks(record) == np.arange(len(frame))
        is_call &= ~np.isin(codes, names)
        above = np.append(nearest_marked(caller, is_call), -1)[caller]
        self._above = np.where(is_call, above, -1)
        self._depth = np.where(is_call, depths(self._above), -1)
        self._at_depth: dict[int, list[int]] = {}
        is_told = is_call & (self._depth < _LONGEST_CHAIN)
        self.ends: Keys = np.append(nearest_marked(caller, is_told), -1)
        """Last stack of each stack's chain, -1 for none; one more for stack -1."""
        self.lengths: list[int] = [*(self._depth + 1).tolist(), 0]
        """How many stacks are in a chain, by its last one; none for -1."""
        self.functions: list[str] = [*(texts[code] for code in codes.tolist()), ""]
        """Name of the function that each stack is in."""
        lines = np.take(np.append(record.frames["line"], -1), frame)
        self.lines: list[int] = [*lines.tolist(), -1]
        """The line at which each stack is in it."""

    def at_depth(self, depth: int) -> list[int]:
        """Return the stack at some depth of each chain, by its last one, -1 for a shorter chain."""
        found = self._at_depth.get(depth)
        if found is None:
            nearest = nearest_marked(self._above, self._depth <= depth)
            at = np.where(self._depth >= depth, nearest, -1)
            found = self._at_depth[depth] = [*at.tolist(), -1]
        return found

    def chain(self, end: int) -> list[int]:
        """Return a chain's stacks, outermost first."""
        chain: list[int] = []
        while end >= 0:
            chain.append(end)
            end = int(self._above[end])
        return chain[::-1]
