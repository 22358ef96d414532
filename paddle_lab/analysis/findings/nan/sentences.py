"""How a source of NaN or Inf is told: its place, and one sentence."""

from __future__ import annotations

from paddle_lab.analysis.findings.facts import PARAMETER, Event, Facts
from paddle_lab.analysis.findings.nan.causes import Cause
from paddle_lab.analysis.findings.nan.sources import Flow, Source
from paddle_lab.analysis.findings.place import Place
from paddle_lab.words import Text, listing

OUTSIDE_ADVICE = Text("findings.nan.advice.outside")

_REACHES = ("loss", "gradient", "parameter")


def place_of(facts: Facts, source: Source) -> Place:
    """Return the line to name."""
    event = event_behind(facts, source) if source.kind == "outside" else None
    place = Place() if event is None else facts.place_of_stack(event.stack)
    if place.line:
        return place
    if source.kind == "backward" and source.op < 0:
        return facts.place_of_call(source.backward_call)
    return facts.place(source.op)


def event_behind(facts: Facts, source: Source) -> Event | None:
    """Return the event that brought a tensor's values in, None where none is known."""
    for kind in ("overwritten", "created"):
        for event in reversed(facts.events(kind)):
            if event.tensor == source.tensor and event.ops_before <= source.op:
                return event
    return None


def message_of(flow: Flow, source: Source, place: Place, cause: Cause) -> Text:
    """Return the sentence."""
    if source.kind == "backward":
        begin = _in_backward(flow.facts, source, place)
    elif source.kind == "op":
        begin = _in_forward(flow, source, place)
    else:
        begin = _from_outside(flow, source, place)
    if cause.text is not None:
        begin = Text("findings.nan.since", said=begin, why=cause.text)
    return Text("findings.nan.sentence", said=_with_end(begin, flow.facts, source))


def _in_forward(flow: Flow, source: Source, place: Place) -> Text:
    facts = flow.facts
    outputs = [flow.numbers.of(tensor) for tensor in facts.outputs(source.op)]
    found = [numbers for numbers in outputs if numbers is not None]
    nans, infs = sum(one.nans for one in found), sum(one.infs for one in found)
    total = sum(one.elements for one in found if one.nans or one.infs)
    what = listing([f"{count:,} {word}" for count, word in ((nans, "NaN"), (infs, "Inf")) if count])
    key = "findings.nan.written" if source.is_meant else "findings.nan.made"
    return Text(key, place=place, name=facts.op_name(source.op), what=what, total=total)


def _in_backward(facts: Facts, source: Source, place: Place) -> Text:
    key = "findings.nan.backward_alone" if source.op < 0 else "findings.nan.backward"
    node = facts.grad_node_name(source.grad_node)
    return Text(key, place=place, node=node, what="NaN" if source.is_nan else "Inf")


def _from_outside(flow: Flow, source: Source, place: Place) -> Text:
    facts = flow.facts
    numbers = flow.numbers.of(source.tensor, source.op)
    bad = 0 if numbers is None else numbers.nans + numbers.infs
    total = 0 if numbers is None else numbers.elements
    shape = list(facts.shape(source.tensor))
    values: dict[str, object] = {
        "place": place,
        "what": "NaN" if source.is_nan else "Inf",
        "shape": shape,
        "counted": Text("findings.nan.counted", bad=bad, total=total),
    }
    if source.kind == "gradient":
        return Text("findings.nan.read_gradient", **values)
    if facts.tensor_kind(source.tensor) == PARAMETER:
        name = facts.path(source.tensor) or Text("findings.nan.some_parameter", shape=shape)
        key = "parameter_met" if event_behind(facts, source) is None else "parameter_written"
        return Text(f"findings.nan.{key}", name=name, **values)
    return Text("findings.nan.brought_in", **values)


def _with_end(said: Text, facts: Facts, source: Source) -> Text:
    steps: list[Text] = []
    if source.became_nan >= 0 and not source.is_nan and source.became_nan != source.op:
        place, here = facts.place(source.became_nan), facts.place(source.op)
        key = "became_there" if place == here else "became_at"
        steps.append(Text(f"findings.nan.{key}", place=place))
    reached = [Text(f"findings.nan.reaches.{key}") for key in _REACHES if key in source.reaches]
    if reached:
        steps.append(Text("findings.nan.reached", what=listing(reached)))
    if len(steps) == 2:
        return Text("findings.nan.and_it_both", said=said, first=steps[0], second=steps[1])
    if steps:
        return Text("findings.nan.and_it", said=said, step=steps[0])
    return said if source.reaches else Text("findings.nan.no_further", said=said)
