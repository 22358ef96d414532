"""Python stacks: stored once when they are recorded, and decoded when the trace has ended.

A stack is read from the frame that called an op outward to the nearest *anchor*. An anchor is the
frame of a layer call (or of the trace itself) whose own stack is already known. So each frame is
read about once per call, even in deep models. While the trace runs, a stack is a tuple ``(anchor's
stack, id(code), f_lasti, …)``. It has ids, because the hash of a code object would hash all its
constants.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from itertools import accumulate, chain, count
from types import CodeType, FrameType

from paddle_lab.capture.native import native_twin

Location = tuple[CodeType, int]
"""A code object and the byte offset of the instruction that was running (``f_lasti``)."""

NO_STACK = -1


@native_twin
class StackPool:
    """Distinct stacks. Keys count from 0 in the order of first use."""

    def __init__(self) -> None:
        self._keys: dict[tuple[int, ...], int] = {}
        self._signatures: dict[int, tuple[int, ...]] = {}
        self.codes: dict[int, CodeType] = {}
        """The code objects of stacks, by id. They are held, so that their ids are not reused."""
        self._next_key: Callable[[], int] = count().__next__

    def take(self, frame: FrameType | None, anchor: FrameType | None, anchor_stack: int) -> int:
        """Return the key of the stack from ``frame`` outward to ``anchor``, without ``anchor``.

        Parameters
        ----------
        frame
            The innermost frame to record.
        anchor
            Where to stop; ``None`` walks to the thread's outermost frame.
        anchor_stack
            Key of the stack at the anchor.
        """
        signature = _walk(frame, anchor, anchor_stack)
        key = self._keys.get(signature)
        if key is None:
            key = self._define(signature, frame, anchor)
        return key

    def put(self, code: CodeType, offset: int, caller_stack: int) -> int:
        """Return the key of a stack whose innermost code has no frame, from its caller's stack.

        Parameters
        ----------
        offset
            The byte offset of an instruction.
        """
        signature = (caller_stack, id(code), offset)
        key = self._keys.get(signature)
        if key is None:
            self.codes[id(code)] = code
            key = self._define(signature, None, None)
        return key

    def taken(self) -> tuple[bytes, bytes]:
        """Return all stacks by key.

        Returns
        -------
        cells, starts
            Integers, 8 bytes each. The cells of a stack are the stack at its anchor, and then for
            each frame, the innermost first, the id of its code and the byte offset of its
            instruction. The starts are the positions at which stacks begin in the cells, and at
            last the end of all cells.
        """
        known = self._signatures.copy()
        # Another thread may be adding a stack.
        keys = range(max(known, default=-1) + 1)
        signatures = [known.get(key, (NO_STACK,)) for key in keys]
        cells = array("q", chain.from_iterable(signatures))
        starts = array("q", accumulate(map(len, signatures), initial=0))
        return cells.tobytes(), starts.tobytes()

    def _define(
        self, signature: tuple[int, ...], frame: FrameType | None, anchor: FrameType | None
    ) -> int:
        while frame is not anchor and frame is not None:
            self.codes[id(frame.f_code)] = frame.f_code
            frame = frame.f_back
        key = self._next_key()
        self._signatures[key] = signature
        self._keys[signature] = key
        return key


def _walk(frame: FrameType | None, anchor: FrameType | None, anchor_stack: int) -> tuple[int, ...]:
    cells = [anchor_stack]
    while frame is not anchor and frame is not None:
        cells.append(id(frame.f_code))
        cells.append(frame.f_lasti)
        frame = frame.f_back
    if frame is not anchor:  # for example, a coroutine that another frame resumed
        cells[0] = NO_STACK
    return tuple(cells)
