"""The second run, and the third where the allocator is asked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from paddle_lab.capture.availability import require_paddle
from paddle_lab.capture.recorder.faults import described
from paddle_lab.capture.recorder.program_log import EXECUTOR
from paddle_lab.capture.rerun.comparison import Difference, Run, differences, with_differences
from paddle_lab.capture.rerun.fill import BYTES, filled, is_filled
from paddle_lab.capture.rerun.reach import Unrepeatable
from paddle_lab.capture.rerun.state import StateBefore
from paddle_lab.capture.session import CaptureSession
from paddle_lab.trace.record import Record
from paddle_lab.words import listing, say

NONDETERMINISM, UNWRITTEN = "nondeterminism", "unwritten-output"

Code = Callable[[], object]


def rerun(first: Run, state: StateBefore, code: Code, checks: Sequence[str]) -> Record:
    """Run code once more for each check that needs it, and return the record with what differed.

    Whatever the code does, the state afterwards is the one that the first run left. A check that
    cannot be made adds a sentence to the record's notices.

    Parameters
    ----------
    first
        The run that was traced.
    state
        What there was before it.
    code
        Does what the first run did.
    checks
        Kinds of findings.
    """
    paddle = require_paddle()
    found: dict[str, list[Difference]] = {}
    looks: dict[str, Callable[[], list[Difference]]] = {
        NONDETERMINISM: lambda: _once_more(first, state, code),
        UNWRITTEN: lambda: _with_filled_memory(paddle, state, code),
    }
    for check, look in looks.items():
        if check in checks:
            try:
                _refuse_executors(first.record)
                found[check] = look()
            except Exception as reason:  # noqa: BLE001  (the first run's trace comes first)
                first.record.origin.notices.append(refusal([check], reason))
    return with_differences(first.record, found)


def refusal(checks: Sequence[str], reason: object) -> str:
    """Return the sentence that says why checks were not made: for the code's reasons or ours."""
    if isinstance(reason, Exception) and not isinstance(reason, Unrepeatable):
        reason = say("notices.unchecked.fault", fault=_short(reason))
    return say("notices.unchecked.because", kinds=listing(checks), reason=reason)


def _refuse_executors(record: Record) -> None:
    if EXECUTOR in record.programs["kind"]:
        raise Unrepeatable(say("notices.unchecked.static_program"))


def _once_more(first: Run, state: StateBefore, code: Code) -> list[Difference]:
    state.refuse_cleared()
    return _compared(first, _recorded(state, code))


def _compared(first: Run, second: Run) -> list[Difference]:
    if first.is_concurrent or second.is_concurrent:
        raise Unrepeatable(say("notices.unchecked.threads"))
    return differences(first, second)


def _with_filled_memory(paddle: Any, state: StateBefore, code: Code) -> list[Difference]:
    if not is_filled(paddle):
        raise Unrepeatable(say("notices.unchecked.not_filled"))
    runs = []
    for byte in BYTES:
        with filled(paddle, byte):
            runs.append(_recorded(state, code))
    found = _compared(*runs)
    if found:
        with filled(paddle, BYTES[0]):
            again = set(differences(runs[0], _recorded(state, code)))
        # What differs between equal runs too has another reason.
        found = [difference for difference in found if difference not in again]
    return found


def _recorded(state: StateBefore, code: Code) -> Run:
    session = CaptureSession(anchor=sys._getframe(), keeps_callers=False, evidence=("rerun",))
    with state.again():
        session.open()
        try:
            code()
        except BaseException as error:
            session.abort()
            if isinstance(error, GeneratorExit):
                raise
            raise Unrepeatable(say("notices.unchecked.second_run", fault=_short(error))) from None
        record = session.close()
    digests = session.digests
    assert digests is not None
    return Run(record, digests)


def _short(error: BaseException) -> str:
    return described(error).partition("\n")[0].rstrip(" .")[:200]
