"""The first op whose output has NaN or Inf while its inputs have none, and what these reached.

Once a number is NaN, everything computed from it is NaN: the loss, the gradients and, after one
step, all parameters. So only the first op matters. It may be an op whose forward is finite and
whose backward makes NaN, like the square root of 0. Or NaN came in with the data.

Inf alone is no mistake: attention masks contain it, and softmax turns it into finite numbers. It is
a mistake if it becomes NaN, or reaches a loss, a gradient or a parameter. Then the finding is at
the op that turned Inf into NaN, not at a constant in the code. NaN that is masked away later, as
with ``paddle.where``, and Inf that nothing uses are reported as information only.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.facts.backward import with_bad_numbers
from paddle_lab.analysis.findings.nan.bad_gradients import add_backward_sources, bad_gradients
from paddle_lab.analysis.findings.nan.causes import cause_in_backward, cause_in_forward
from paddle_lab.analysis.findings.nan.ends import note_reach, path_marks
from paddle_lab.analysis.findings.nan.numbers import TensorNumbers
from paddle_lab.analysis.findings.nan.sentences import (
    event_behind,
    message_of,
    place_of,
)
from paddle_lab.analysis.findings.nan.sources import Flow, Source, is_optimizers
from paddle_lab.analysis.findings.parts import Check, Facts, Found, Place, Severity
from paddle_lab.words import Text

_MOST_LINES = 5
_SCALER = "check_finite_and_unscale_"


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines where NaN or Inf began."""
    has_bad = with_bad_numbers(facts.record.value_stats).any()
    if not has_bad and not facts.answer(bad_gradients):
        return
    flow = Flow(facts, TensorNumbers(facts))
    note_reach(flow)
    add_backward_sources(flow)
    severities = [(source, _severity(facts, source)) for source in flow.sources]
    ranked = [(severity, source) for source, severity in severities if severity is not None]
    # Alarms first, by time; backward runs from the last op to the first.
    ranked.sort(
        key=lambda one: (
            one[0] == "info",
            _moment(facts, one[1]),
            -one[1].op if one[1].kind == "backward" else 0,
        )
    )
    named: set[Place] = set()
    for severity, source in ranked:
        place = place_of(facts, source)
        if place in named or _was_seen_before(flow, source):
            continue
        if len(named) == _MOST_LINES:
            return
        named.add(place)
        yield _found(flow, source, place, severity)


def _found(flow: Flow, source: Source, place: Place, severity: Severity) -> Found:
    facts, numbers = flow.facts, flow.numbers
    why: Text | None = None
    advice: Text | None = None
    if source.kind in ("outside", "gradient"):
        advice = Text("findings.nan.advice.outside")
    elif source.kind == "backward" and source.op >= 0:
        why, advice = cause_in_backward(facts, numbers, source.op)
    elif source.kind == "op":
        why, advice = cause_in_forward(facts, numbers, source.op, is_nan=source.is_nan)
    return Found(
        place=place,
        op=source.op,
        grad_node=source.grad_node if source.kind == "backward" else -1,
        severity=severity,
        message=message_of(flow, source, place, why),
        marks=path_marks(flow, source),
        advice=advice,
    )


def _severity(facts: Facts, source: Source) -> Severity | None:
    """Return the severity of a source, ``None`` if it is harmless."""
    reaches = source.reaches
    if source.kind == "gradient":
        return "error" if reaches else None
    if "loss" in reaches or "parameter" in reaches:
        return "error"
    if "gradient" in reaches:
        # A scaler skips such a step and lowers the scale, until it has found a good scale.
        return "info" if facts.ops_named([_SCALER]) else "error"
    if "end" in reaches:
        return "error"
    if source.is_meant or source.kind == "outside":
        return None
    if source.is_nan or "inf_end" in reaches:
        return "info"
    return None


def _was_seen_before(flow: Flow, source: Source) -> bool:
    """Tell whether an earlier bad loss or gradient explains an apparent source."""
    facts = flow.facts
    is_late = source.kind == "gradient" or (
        is_optimizers(facts, source) or facts.op_name(source.op) == "paddle.grad"
        if source.kind == "op"
        # Python code may have made a new tensor from the results of a step.
        else source.kind == "outside" and event_behind(facts, source) is not None
    )
    return is_late and any(
        "loss" in other.reaches or "gradient" in other.reaches
        for other in flow.sources
        if other is not source and other.kind != "gradient" and _moment(facts, other) < source.op
    )


def _moment(facts: Facts, source: Source) -> int:
    if source.kind == "backward":
        return facts.ops_before(source.backward_call)
    return source.op


CHECK = Check(
    find=find,
    example="entropy = -(p * paddle.log(p)).sum()  # p is 0 here and there",
    needs=("events", "values", "gradients"),
    holds_on=("first",),  # the NaN or Inf may have begun in earlier ops
)
