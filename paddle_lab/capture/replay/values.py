"""The values of a finished trace, computed again."""

from __future__ import annotations

import os
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.availability import require_paddle
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.hooks import HOOKS
from paddle_lab.capture.replay.call_log import CallLog
from paddle_lab.capture.replay.closure import leading_to
from paddle_lab.capture.replay.player import Irreplayable, Player
from paddle_lab.capture.rows.cells import LARGEST_VERSION, VERSION_BITS
from paddle_lab.words import Text, say

_MOST_COMPARED = 4
_MOST_COMPARED_BYTES = 1 << 24

_NEWEST: weakref.ref[CallLog] | None = None
"""The only log that may hold tensors."""

Array = npt.NDArray[Any]


class Replay:
    """What one trace holds to compute its values again.

    Parameters
    ----------
    log
        What was noted while the trace was open.
    is_interrupted
        Whether the traced code was interrupted.
    """

    def __init__(self, log: CallLog, *, is_interrupted: bool = False) -> None:
        self.log = log
        self._paddle: Any = require_paddle()
        self._process = os.getpid()
        if is_interrupted:
            log.release(Text("replay.interrupted"))
        older = _NEWEST() if _NEWEST is not None else None
        if older is not None and older is not log:
            older.release(Text("replay.older"))
        _hold(log)

    def value(self, op: int, output: int) -> tuple[Array, int]:
        """Return an op's output, and how many living tensors of the trace the replay agreed with.

        Parameters
        ----------
        op
            Row in the record's ``ops``.
        output
            Which of the op's tensors.

        Raises
        ------
        Irreplayable
            If the value cannot be had, with the reason.
        IndexError
            If the op has no such output.
        """
        log = self.log
        self._check()
        key = int(log.row_keys[op])
        call = log.calls.get(key)
        if call is None or call.function is None:
            raise Irreplayable(say("replay.outside"))
        if not 0 <= output < len(call.made):
            raise IndexError(say("replay.no_output", n=len(call.made)))
        player = Player(self._paddle, log, leading_to(log.calls, key, log.storage_of))
        number = call.made[output]
        with HOOKS.suspended():
            player.run()
            tensor = player.tensors.get(number)
            if tensor is None or not DOOR.is_initialized(tensor) or not DOOR.is_dense(tensor):
                raise Irreplayable(say("replay.not_dense"))
            return as_array(tensor), self._compared(player, key)

    def _check(self) -> None:
        if os.getpid() != self._process:  # a forked process has no threads of Paddle
            raise Irreplayable(say("replay.process"))
        if self.log.refused is not None:
            raise Irreplayable(str(self.log.refused))

    def _compared(self, player: Player, target: int) -> int:
        """Compare results with the user's tensors that are alive; return how many are equal."""
        log, count = self.log, 0
        later = {
            storage for key, call in log.calls.items() if key > target for storage in call.writes
        }
        for tensor, packed in log.numbers.living():
            number = packed >> VERSION_BITS
            if count == _MOST_COMPARED:
                break
            replayed = player.tensors.get(number)
            if (
                packed < 0
                or replayed is None
                or number in log.held.by_number
                or log.storage_of[number] in later
                or tensor.persistable
                or DOOR.inplace_version(tensor) & LARGEST_VERSION != packed & LARGEST_VERSION
                or tensor.size * tensor.element_size() > _MOST_COMPARED_BYTES
            ):
                continue
            if as_array(tensor).tobytes() != as_array(replayed).tobytes():
                raise Irreplayable(say("replay.differs"))
            count += 1
        return count


def _hold(log: CallLog) -> None:
    global _NEWEST  # noqa: PLW0603
    _NEWEST = weakref.ref(log)


def as_array(tensor: Any) -> Array:
    """Return a tensor's values; bfloat16 as float32."""
    if "bfloat16" in str(tensor.dtype):
        tensor = tensor.detach().astype("float32")
    array: Array = np.array(tensor.detach().numpy())
    return array
