"""Computes values of a finished trace again."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.availability import require_paddle
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.hooks import HOOKS
from paddle_lab.capture.replay.call_log import HOLDING, CallLog
from paddle_lab.capture.replay.call_tape import is_valid, version_of
from paddle_lab.capture.replay.calls import PROGRAM, Irreplayable, RecordedCall
from paddle_lab.capture.replay.closure import leading_to
from paddle_lab.capture.replay.player import Player, as_array
from paddle_lab.capture.replay.program_runs import Place, ProgramRun
from paddle_lab.capture.rerun.fill import BYTES, filled
from paddle_lab.capture.rows.cells import LARGEST_VERSION, NO_VERSION, VERSION_BITS
from paddle_lab.words import Text, say

_INSIDE = -2
"""Stands for the number of a value inside a program."""
_MOST_COMPARED = 4
_MOST_COMPARED_BYTES = 1 << 24
_LEAST_TOLD_BYTES = 10**6

Array = npt.NDArray[Any]


class Replay:
    """Computes the values of one trace again.

    Parameters
    ----------
    log
        The calls and tensors that were noted while the trace was open.
    is_interrupted
        Whether the traced code was interrupted.
    """

    def __init__(self, log: CallLog, *, is_interrupted: bool = False) -> None:
        self.log = log
        self._paddle: Any = require_paddle()
        self._process = os.getpid()
        if is_interrupted:
            log.release(Text("replay.interrupted"))
        log.hold_alone()
        HOLDING.add(log)

    def cost(self) -> list[str]:
        """Return a sentence about the held copies; none if nothing is held, or very little."""
        held = self.log.held
        if self.log.refused is not None or held.size_bytes < _LEAST_TOLD_BYTES:
            return []
        megabytes, seconds = round(held.size_bytes / 1e6), f"{held.copying_s:.2f}"
        return [say("replay.cost", mb=megabytes, seconds=seconds)]

    def value(self, op: int, output: int) -> tuple[Array, int]:
        """Return an op's output, and how many of the user's tensors the replay reproduced.

        Parameters
        ----------
        op
            The op's row in the record's table ``ops``.
        output
            The position among the op's outputs.

        Raises
        ------
        Irreplayable
            If the value cannot be computed. The message is the reason.
        IndexError
            If the op has no such output.
        """
        log = self.log
        self._check()
        calls = log.calls_to(int(log.row_keys[op]))
        call = calls[-1] if calls else RecordedCall()
        if call.function is None:
            raise Irreplayable(say("replay.outside"))
        if not 0 <= output < len(call.made):
            raise IndexError(say("replay.no_output", n=len(call.made)))
        number = call.made[output]
        calls = leading_to(calls, log.tape.storage_of, number)
        if call.function is PROGRAM and not any(number in one.made for one in calls):
            raise Irreplayable(say("replay.outside"))
        return self._value(calls, number, call, is_first=output == 0)

    def inside(self, program: int, run: int, place: Place) -> tuple[Array, int]:
        """Return a value inside a compiled program, as :meth:`value` returns one of an op.

        Parameters
        ----------
        program
            The program's number in the record.
        run
            Which of the program's runs.
        """
        self._check()
        calls = self.log.calls_to(None)
        runs = self._runs_of(program, calls)
        if not 0 <= run < len(runs):
            raise IndexError(run)
        call = runs[run]
        calls = leading_to(calls[: calls.index(call) + 1], self.log.tape.storage_of, -1)
        call.function.inside, call.made = {"forward_program": place}, [*call.made, _INSIDE]
        return self._value(calls, _INSIDE, call, is_first=place[1] == 0)

    def _runs_of(self, program: int, calls: list[RecordedCall]) -> list[Any]:
        """Return the calls of one program, and give each a function of its own."""
        runs = self.log.runs_of(program, calls)
        if not runs:
            raise Irreplayable(say("replay.outside"))
        for call in runs:
            call.function = copy.copy(call.function)
        return runs

    def _value(
        self, calls: list[RecordedCall], number: int, call: RecordedCall, *, is_first: bool
    ) -> tuple[Array, int]:
        log, comparable = self.log, self._comparable(call)
        keep = {number, *(number for _, number in comparable)}
        player = Player(self._paddle, log, calls)
        with HOOKS.suspended():
            if is_first and not any(map(_may_leave_unwritten, calls)):
                array = self._run(player, number, keep)
            else:
                # An op may leave a part of an output unwritten. Then two runs differ.
                with filled(self._paddle, BYTES[0]):
                    first = self._run(Player(self._paddle, log, calls), number, {number})
                with filled(self._paddle, BYTES[1]):
                    array = self._run(player, number, keep)
                if first.tobytes() != array.tobytes():
                    raise Irreplayable(say("replay.unwritten"))
            return array, self._compared(player, comparable)

    def in_float64(self, op: int, inputs: Sequence[Array | None]) -> list[Array] | None:
        """Run one op on other inputs, with floats in double precision; ``None`` if it cannot run.

        Parameters
        ----------
        op
            The op's row in the record's table ``ops``.
        inputs
            Values for the tensors that the op read, in order; ``None`` for memory that nothing
            wrote before.
        """
        calls = self.log.calls_to(int(self.log.row_keys[op]))
        call = calls[-1] if calls else RecordedCall()
        if call.function in (None, PROGRAM) or len(call.reads) != len(inputs):
            return None
        player = Player(self._paddle, self.log, [call])
        wide = {"f": "float64", "c": "complex128"}
        try:
            self._check()
            with HOOKS.suspended():
                for number, value in zip(call.reads, inputs, strict=True):
                    if value is None:
                        held = self.log.held.by_number.get(number)
                        if held is None or held.unwritten is None:
                            return None
                        continue
                    kind = value.dtype.kind
                    array = value.astype(wide[kind]) if kind in wide else value
                    player.tensors[number] = self._paddle.to_tensor(array)
                player.run({*call.made})
                made = (player.tensors.get(number) for number in call.made)
                return [
                    as_array(one) if one is not None and DOOR.is_initialized(one) else np.empty(0)
                    for one in made
                ]
        except Irreplayable:
            return None

    def _run(self, player: Player, number: int, keep: set[int]) -> Array:
        player.run(keep)
        tensor = player.tensors.get(number)
        if tensor is None or not DOOR.is_initialized(tensor) or not DOOR.is_dense(tensor):
            raise Irreplayable(say("replay.not_dense"))
        return as_array(tensor)

    def gradient(self, call: int, op: int, tensor: int, is_leaf: bool) -> Array:  # noqa: FBT001
        """Return the gradient that a grad node gets in a backward call.

        Parameters
        ----------
        call
            The number of the backward call.
        op
            The row in ``ops`` of the op that made the grad node; for a leaf, of an op that reads
            the leaf.
        tensor
            The position among the op's outputs. For a leaf: the position among the op's inputs.
        is_leaf
            Whether the node accumulates the gradient of a leaf.

        Raises
        ------
        Irreplayable
            If the gradient cannot be computed. The message is the reason.
        """
        log = self.log
        self._check()
        key = int(log.row_keys[op])
        made_by = (log.calls_to(key) or [RecordedCall()])[-1]
        if made_by.function is None or call >= len(log.backward.calls):
            raise Irreplayable(say("replay.boundary"))
        numbers = made_by.reads if is_leaf else made_by.made
        if not 0 <= tensor < len(numbers):
            raise IndexError(say("replay.no_output", n=len(numbers)))
        wanted = {numbers[tensor]}
        for one in log.calls_before(log.backward.calls[call]):
            if one.special.replaces in wanted:
                wanted.update(one.made)
        calls = self._calls_to_backward(call)
        player = Player(self._paddle, log, calls)
        with HOOKS.suspended():
            found = player.gradients(wanted, None if is_leaf else key)
        if not found:
            raise Irreplayable(say("replay.no_gradient"))
        gradient: Array = found[-1]
        return gradient

    def gradient_inside(self, call: int, program: int, place: Place) -> Array:
        """Return a gradient inside the backward of a compiled program, as :meth:`gradient` does."""
        self._check()
        calls, found = self._calls_to_backward(call), list[Any]()
        for run in self._runs_of(program, calls):
            run.function.inside, run.function.found = {"backward_program": place}, found
        player = Player(self._paddle, self.log, calls)
        with HOOKS.suspended():
            # Only the last backward call counts. It runs the first run of the program last.
            player.run((), lambda at: found.clear() if at == len(calls) - 1 else None)
            if not found:
                raise Irreplayable(say("replay.no_gradient"))
            return as_array(found[-1])

    def _calls_to_backward(self, call: int) -> list[RecordedCall]:
        """Return the calls that lead to a backward call, and this call."""
        log = self.log
        calls = log.calls_before(log.backward.calls[call])
        calls = leading_to(calls, log.tape.storage_of, -1)
        read = {number for one in calls if one.builds_graph for number in one.reads}
        if any(held.has_history for n, held in log.held.by_number.items() if n in read):
            raise Irreplayable(say("replay.boundary"))
        return calls

    def _check(self) -> None:
        if os.getpid() != self._process:  # Paddle's threads do not exist in a forked process
            raise Irreplayable(say("replay.process"))
        if not self._paddle.in_dynamic_mode():
            raise Irreplayable(say("replay.static"))
        if self.log.refused is not None:
            raise Irreplayable(str(self.log.refused))

    def _comparable(self, target: RecordedCall) -> list[tuple[Any, int]]:
        """Return the user's tensors that still have the values that the trace computed."""
        log, found = self.log, []
        later = {
            storage
            for at, special in log.special.items()
            if at > target.at
            for storage in special.writes
        }
        for tensor, packed in log.tape.numbers.living():
            number = packed >> VERSION_BITS
            if (
                packed >= 0
                and number not in log.held.by_number
                and log.tape.storage_of(number) not in later
                and is_valid(log.tape, number)
                and not tensor.persistable
                and version_of(tensor) == packed & LARGEST_VERSION != NO_VERSION
                and tensor.size * tensor.element_size() <= _MOST_COMPARED_BYTES
            ):
                found.append((tensor, number))
        return found

    def _compared(self, player: Player, comparable: list[tuple[Any, int]]) -> int:
        """Compare up to four results with the user's tensors; return how many were compared."""
        count = 0
        for tensor, number in comparable:
            replayed = player.tensors.get(number)
            if replayed is None or count == _MOST_COMPARED:
                continue
            if as_array(tensor).tobytes() != as_array(replayed).tobytes():
                raise Irreplayable(say("replay.differs"))
            count += 1
        return count


def _may_leave_unwritten(call: RecordedCall) -> bool:
    run = call.function
    return call.name.startswith("empty") or (isinstance(run, ProgramRun) and run.leaves_unwritten)
