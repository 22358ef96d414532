"""Runs the traced code again, for checks that compare two runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence

from paddle_lab.capture.availability import require_paddle
from paddle_lab.capture.recorder.faults import described
from paddle_lab.capture.recorder.program_log import EXECUTOR
from paddle_lab.capture.rerun.comparison import Difference, differences, with_differences
from paddle_lab.capture.rerun.fill import BYTES, filled, is_filled
from paddle_lab.capture.rerun.reach import Unrepeatable
from paddle_lab.capture.rerun.state import StateBefore
from paddle_lab.capture.session import CaptureSession
from paddle_lab.capture.stacks.source_texts import Cells
from paddle_lab.trace.limit import EXACT
from paddle_lab.trace.record import Record
from paddle_lab.words import listing, say

NONDETERMINISM, UNWRITTEN = "nondeterminism", "unwritten-output"

Code = Callable[[], object]


class Rerun:
    """Code that can run again, and the state before its first run.

    Parameters
    ----------
    checks
        The kinds of findings that need a second run.
    prepare
        Saves the state before the code runs, and returns this state and the code.
    cells
        Finds notebook cells by file name; ``None`` outside of notebooks.
    """

    def __init__(
        self,
        checks: Sequence[str],
        prepare: Callable[[], tuple[StateBefore, Code]],
        cells: Cells | None = None,
    ) -> None:
        self._checks, self._cells = checks, cells
        self._refusal = ""
        self.second: Record | None = None
        """The record of the second run, with digests, if it was compared."""
        try:
            self._state, self._code = prepare()
        except Exception as reason:  # noqa: BLE001  (the code must run all the same)
            self._refusal = _refusal(checks, reason)

    def finish(
        self, first: Record, hooked: Collection[int], error: BaseException | None = None
    ) -> Record:
        """Run the code again for each check, and return the record with the differences.

        Afterwards the state is that after the first run, whatever the code does. If a check cannot
        be made, the record gets a notice.

        Parameters
        ----------
        first
            The record of the first run, with digests.
        hooked
            The ids of tensors whose gradient hooks this run changed.
        error
            The exception that ended the first run.
        """
        notices = first.origin.notices
        if error is not None and not self._refusal:
            self._refusal = _refusal(self._checks, say("notices.unchecked.cell_error"))
        if self._refusal:
            notices.append(self._refusal)
            return first
        found: dict[str, list[Difference]] = {}
        looks = {NONDETERMINISM: self._run_again, UNWRITTEN: self._fill_memory}
        for check, look in looks.items():
            if check in self._checks:
                try:
                    if EXECUTOR in first.programs["kind"]:
                        raise Unrepeatable(say("notices.unchecked.static_program"))  # noqa: TRY301
                    self._state.refuse_hooked(hooked)
                    found[check] = look(first)
                except Exception as reason:  # noqa: BLE001  (the first run's trace comes first)
                    notices.append(_refusal([check], reason))
        return with_differences(first, found)

    def _run_again(self, first: Record) -> list[Difference]:
        self._state.refuse_cleared()
        rounded = first.value_digests["decimals"]
        second = self._recorded(int(rounded[0]) if len(rounded) else EXACT)
        found = _compared(first, second)
        self.second = second
        return found

    def _fill_memory(self, _first: Record) -> list[Difference]:
        paddle = require_paddle()
        if not is_filled(paddle):
            raise Unrepeatable(say("notices.unchecked.not_filled"))
        runs = []
        for byte in BYTES:
            with filled(paddle, byte):
                runs.append(self._recorded())
        found = _compared(*runs)
        if found:
            with filled(paddle, BYTES[0]):
                again = set(differences(runs[0], self._recorded()))
            # If two runs with equal settings also differ, the settings are not the reason.
            found = [difference for difference in found if difference not in again]
        return found

    def _recorded(self, decimals: int = EXACT) -> Record:
        session = CaptureSession(anchor=sys._getframe(), cells=self._cells, decimals=decimals)
        with self._state.again():
            session.open()
            try:
                self._code()
            except BaseException as error:
                session.abort()
                if isinstance(error, GeneratorExit):
                    raise
                sentence = say("notices.unchecked.second_run", fault=_short(error))
                raise Unrepeatable(sentence) from None
            return session.close()


def _compared(first: Record, second: Record) -> list[Difference]:
    if first.is_concurrent or second.is_concurrent:
        raise Unrepeatable(say("notices.unchecked.threads"))
    return differences(first, second)


def _refusal(checks: Sequence[str], reason: object) -> str:
    """Return a sentence that says why checks were not made."""
    if isinstance(reason, Exception) and not isinstance(reason, Unrepeatable):
        reason = say("notices.unchecked.fault", fault=_short(reason))
    return say("notices.unchecked.because", kinds=listing(checks), reason=reason)


def _short(error: BaseException) -> str:
    return described(error).partition("\n")[0].rstrip(" .")[:200]
