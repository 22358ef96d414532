"""The first op whose output has NaN or Inf while its inputs have none, and what became of it.

Once a number is NaN, everything made of it is NaN: the loss, the gradients, after one step all
parameters. Only the first op is worth looking at. It may be one whose forward is finite and only
whose backward makes NaN, as the square root of 0. Or no op at all: NaN that came in with the data.

Inf alone is no mistake. Attention masks are made of it, and softmax makes finite numbers of those.
It is one where it becomes NaN, or reaches a loss, a gradient or a parameter; and even then a
constant in the code is not to blame, but the op that made NaN of it. NaN that was made and
then masked away, as ``paddle.where`` can, is reported as information only, as is Inf that nothing
used.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.facts.backward import with_bad_numbers
from paddle_lab.analysis.findings.finding import Found, Severity
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
from paddle_lab.analysis.findings.place import Place
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
    """Return how bad it is, ``None`` where it is nothing."""
    reaches = source.reaches
    if source.kind == "gradient":
        return "error" if reaches else None
    if "loss" in reaches or "parameter" in reaches:
        return "error"
    if "gradient" in reaches:
        # A scaler leaves out the step and makes the scale smaller: that is how it finds its scale.
        return "info" if facts.ops_named([_SCALER]) else "error"
    if "end" in reaches:
        return "error"
    if source.is_meant or source.kind == "outside":
        return None
    if source.is_nan or "inf_end" in reaches:
        return "info"
    return None


def _was_seen_before(flow: Flow, source: Source) -> bool:
    """Tell whether a loss or gradient that was bad before explains what looks like a source."""
    facts = flow.facts
    is_late = source.kind == "gradient" or (
        is_optimizers(facts, source) or facts.op_name(source.op) == "paddle.grad"
        if source.kind == "op"
        # Python code may have made a new tensor of what a step computed.
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
    kind="nan-origin",
    find=find,
    example="entropy = -(p * paddle.log(p)).sum()  # p is 0 here and there",
    needs=("events", "values", "gradients"),
    holds_on=("first",),  # it may have begun in ops before
)
