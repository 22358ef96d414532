"""Makes rows of ``stacks`` and ``frames`` from the recorded stacks."""

from __future__ import annotations

from types import CodeType

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.stacks.frame_kinds import is_own, is_runner
from paddle_lab.capture.stacks.stack_pool import NO_STACK, StackPool

Integers = npt.NDArray[np.int64]


class StackRows:
    """Rows of ``stacks`` and ``frames``, numbered in the order of requests.

    A stack continues with the stack at its anchor, which was recorded before. Frames of this
    package are omitted. Without an anchor, the frame that runs the cell or script and its callers
    are also omitted. There are few distinct stacks, even if a loop calls many ops.

    Parameters
    ----------
    pool
        The stacks that were recorded.
    """

    def __init__(self, pool: StackPool) -> None:
        self._pool = pool
        self._frames: dict[tuple[int, int], int] = {}
        self._stacks: dict[tuple[int, int], int] = {}
        self._rows = {NO_STACK: NO_STACK}
        self.codes: list[CodeType] = []
        """By number. Equal code objects, such as those of a cell that ran twice, share one."""
        self._numbers: dict[tuple[CodeType, str], int] = {}
        self._shown: dict[int, tuple[int, bool]] = {}
        """For the id of a code object: its number, -1 for own code, and whether it is a runner."""
        self._cells: list[int] = []
        self._starts = [0]

    def rows(self, taken: Integers) -> Integers:
        """Return the rows of stacks, given by their keys in the pool; -1 for none.

        Stacks without rows get new rows in this order, and so do their frames.
        """
        if taken.max(initial=NO_STACK) >= len(self._starts) - 1:
            cells, starts = self._pool.taken()
            self._cells = np.frombuffer(cells, np.int64).tolist()
            self._starts = np.frombuffer(starts, np.int64).tolist()
        distinct, first, which = np.unique(taken, return_index=True, return_inverse=True)
        for key in distinct[np.argsort(first)].tolist():
            self._resolve(key)
        rows: Integers = np.array([self._rows[key] for key in distinct.tolist()], np.int64)[which]
        return rows

    def frames(self) -> list[tuple[int, int]]:
        """Return the code's number and the instruction of each frame."""
        return list(self._frames)

    def stacks(self) -> list[tuple[int, int]]:
        """Return the frame and the caller of each stack."""
        return list(self._stacks)

    def _resolve(self, key: int) -> None:
        """Add the rows of a stack, and before them those of the stacks at its anchors."""
        waiting = []
        while key not in self._rows:
            waiting.append(key)
            key = self._cells[self._starts[key]]
        for stack in reversed(waiting):
            anchor, *cells = self._cells[self._starts[stack] : self._starts[stack + 1]]
            row = self._rows[anchor]
            for frame in reversed(self._shown_frames(cells, is_outermost=anchor == NO_STACK)):
                number = self._frames.setdefault(frame, len(self._frames))
                row = self._stacks.setdefault((number, row), len(self._stacks))
            self._rows[stack] = row

    def _shown_frames(self, cells: list[int], *, is_outermost: bool) -> list[tuple[int, int]]:
        """Return the code's number and the instruction of each frame, the innermost first."""
        shown = []
        for identity, offset in zip(cells[::2], cells[1::2], strict=True):
            if identity not in self._shown:
                self._shown[identity] = self._number(self._pool.codes[identity])
            number, runs_code = self._shown[identity]
            if runs_code and is_outermost:
                break
            if number >= 0:
                shown.append((number, offset))
        return shown

    def _number(self, code: CodeType) -> tuple[int, bool]:
        if is_own(code.co_filename):
            return -1, False
        number = self._numbers.setdefault((code, code.co_filename), len(self.codes))
        if number == len(self.codes):
            self.codes.append(code)
        return number, is_runner(code.co_filename)
