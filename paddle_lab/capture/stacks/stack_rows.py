"""Makes rows of ``stacks`` and ``frames`` from the recorded stacks, many at once."""

from __future__ import annotations

from types import CodeType

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.rows.pair_table import PairTable
from paddle_lab.capture.stacks.frame_kinds import is_own, is_runner
from paddle_lab.capture.stacks.stack_pool import NO_STACK, StackPool

Integers = npt.NDArray[np.int64]

_UNRESOLVED = -2


class StackRows:
    """Rows of ``stacks`` and ``frames``, numbered in the order of requests.

    A stack continues with the stack at its anchor, which was recorded before. Frames of this
    package are omitted. Without an anchor, the frame that runs the cell or script and its callers
    are also omitted.

    Parameters
    ----------
    pool
        The stacks that were recorded.
    """

    def __init__(self, pool: StackPool) -> None:
        self._pool = pool
        self._frames = PairTable()
        self._stacks = PairTable()
        self.codes: list[CodeType] = []
        """By number. Equal code objects, such as those of a cell that ran twice, share one."""
        self._numbers: dict[tuple[CodeType, str], int] = {}
        # A place is the position of a code object in the pool, sorted by id.
        self._ids = np.empty(0, np.int64)
        self._by_place: list[CodeType] = []
        self._is_own = self._is_runner = np.empty(0, np.bool_)
        self._cells = np.empty(0, np.int64)
        self._starts = np.zeros(1, np.int64)
        # The last item is for the stack -1. So there is one item more than stacks.
        self._resolved = np.array([NO_STACK])

    def rows(self, taken: Integers) -> Integers:
        """Return the rows of stacks, given by their keys in the pool; -1 for none.

        Stacks without rows get new rows in this order, and so do their frames.
        """
        if taken.max(initial=NO_STACK) >= len(self._starts) - 1:
            self._read_pool()
        keys = self._unresolved(taken)
        if len(keys):
            self._resolve(keys)
        rows: Integers = self._resolved[taken]
        return rows

    def _resolve(self, keys: Integers) -> None:
        stack, place, offset = self._frames_outward_in(keys)
        code = self._number_codes(place)
        frame = np.frombuffer(self._frames.number(code.tobytes(), offset.tobytes()), np.int64)
        starts = np.searchsorted(stack, np.arange(len(keys) + 1))
        self._stacks.chain(
            keys.tobytes(),
            self._cells[self._starts[keys]].tobytes(),
            starts.tobytes(),
            frame.tobytes(),
            self._resolved,
        )

    def frames(self) -> Integers:
        """Return the code's number and the instruction of each frame, shape ``[frames, 2]``."""
        return np.frombuffer(self._frames.to_bytes(), np.int64).reshape(-1, 2)

    def stacks(self) -> Integers:
        """Return the frame and the caller of each stack, shape ``[stacks, 2]``."""
        return np.frombuffer(self._stacks.to_bytes(), np.int64).reshape(-1, 2)

    def _read_pool(self) -> None:
        cells, starts = self._pool.taken()
        self._cells, self._starts = np.frombuffer(cells, np.int64), np.frombuffer(starts, np.int64)
        resolved = np.full(len(self._starts), _UNRESOLVED, np.int64)
        resolved[: len(self._resolved) - 1] = self._resolved[:-1]
        resolved[-1] = NO_STACK
        self._resolved = resolved
        codes = sorted(self._pool.codes.copy().items())
        self._ids = np.array([identity for identity, _ in codes], np.int64)
        self._by_place = [code for _, code in codes]
        files = [code.co_filename for code in self._by_place]
        self._is_own = np.array([is_own(file) for file in files], np.bool_)
        self._is_runner = np.array([is_runner(file) for file in files], np.bool_)

    def _unresolved(self, taken: Integers) -> Integers:
        """Return the stacks that have no rows yet, with anchors, in the order of use."""
        never = len(taken)
        first = np.full(len(self._resolved), never)
        first[taken[::-1]] = np.arange(never)[::-1]
        reached = np.flatnonzero(first[:-1] < never)
        while len(reached):
            reached = reached[self._resolved[reached] == _UNRESOLVED]
            anchors = self._cells[self._starts[reached]]
            is_sooner = (anchors != NO_STACK) & (first[reached] < first[anchors])
            anchors, reached = anchors[is_sooner], reached[is_sooner]
            np.minimum.at(first, anchors, first[reached])
            reached = np.unique(anchors)
        keys = np.flatnonzero((first < never) & (self._resolved == _UNRESOLVED))
        # A stack has a lower key than the stacks that refer to it.
        return keys[np.argsort(first[keys], kind="stable")]

    def _frames_outward_in(self, keys: Integers) -> tuple[Integers, Integers, Integers]:
        """Return the visible frames of some stacks, the outermost of each stack first.

        Returns
        -------
        stack, place, offset
            For each frame: its position in ``keys``, the place of its code, and the instruction.
        """
        starts = self._starts[keys]
        lengths = (self._starts[keys + 1] - starts) // 2
        stack = np.repeat(np.arange(len(keys)), lengths)
        ends = np.cumsum(lengths)
        outward = ends[stack] - np.arange(len(stack))
        cell = starts[stack] + 2 * outward - 1
        place = np.searchsorted(self._ids, self._cells[cell])
        is_shown = ~self._is_own[place]
        is_runner = self._is_runner[place]
        if is_runner.any():
            # In a stack without anchor, show only the frames inside the innermost runner.
            is_runner &= (self._cells[starts] == NO_STACK)[stack]
            innermost = np.full(len(keys), len(stack) + 1)
            innermost[stack[is_runner]] = outward[is_runner]
            is_shown &= outward < innermost[stack]
        return stack[is_shown], place[is_shown], self._cells[cell + 1][is_shown]

    def _number_codes(self, place: Integers) -> Integers:
        """Return the number of the code object at each place."""
        numbers = np.full(len(self._ids), -1)
        for one in place[np.sort(np.unique(place, return_index=True)[1])].tolist():
            code = self._by_place[one]
            number = self._numbers.setdefault((code, code.co_filename), len(self.codes))
            if number == len(self.codes):
                self.codes.append(code)
            numbers[one] = number
        numbered: Integers = numbers[place]
        return numbered
