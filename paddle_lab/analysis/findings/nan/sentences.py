"""Describes a source of NaN or Inf by its line and one sentence."""

from __future__ import annotations

from paddle_lab.analysis.findings.facts import PARAMETER, Event, Facts
from paddle_lab.analysis.findings.finding import Place
from paddle_lab.analysis.findings.nan.sources import Flow, Source
from paddle_lab.words import Text, listing

_REACHES = ("loss", "gradient", "parameter")


def place_of(facts: Facts, source: Source) -> Place:
    """Return the line of a source, which the sentence names."""
    event = event_behind(facts, source) if source.kind == "outside" else None
    place = Place() if event is None else facts.place_of_stack(event.stack)
    if place.line:
        return place
    if source.kind == "backward" and source.op < 0:
        return facts.place_of_call(source.backward_call)
    return facts.place(source.op)


def event_behind(facts: Facts, source: Source) -> Event | None:
    """Return the event that gave a tensor its values, None if it is unknown."""
    for kind in ("overwritten", "created"):
        for event in reversed(facts.events(kind)):
            if event.tensor == source.tensor and event.ops_before <= source.op:
                return event
    return None


def message_of(flow: Flow, source: Source, place: Place, why: Text | None) -> Text:
    """Return the whole sentence about a source."""
    facts = flow.facts
    said = _beginning(flow, source, place)
    if why is not None:
        said = Text("findings.nan.since", said=said, why=why)
    steps: list[Text] = []
    if source.became_nan >= 0 and not source.is_nan:
        there = facts.place(source.became_nan)
        if there != facts.place(source.op):
            steps.append(Text("findings.nan.became_at", place=there))
    reached = [Text(f"findings.nan.reaches.{key}") for key in _REACHES if key in source.reaches]
    if reached:
        steps.append(Text("findings.nan.reached", what=listing(reached)))
    if len(steps) == 2:
        said = Text("findings.nan.and_it_both", said=said, first=steps[0], second=steps[1])
    elif steps:
        said = Text("findings.nan.and_it", said=said, step=steps[0])
    elif not source.reaches:
        said = Text("findings.nan.no_further", said=said)
    return Text("findings.nan.sentence", said=said)


def _beginning(flow: Flow, source: Source, place: Place) -> Text:
    facts, what = flow.facts, "NaN" if source.is_nan else "Inf"
    if source.kind == "backward":
        key = "findings.nan.backward_alone" if source.op < 0 else "findings.nan.backward"
        return Text(key, place=place, node=facts.grad_node_name(source.grad_node), what=what)
    if source.kind == "op":
        found = filter(None, map(flow.numbers.of, facts.outputs(source.op)))
        bad = [one for one in found if one.nans or one.infs]
        counts = (sum(one.nans for one in bad), "NaN"), (sum(one.infs for one in bad), "Inf")
        key = "findings.nan.written" if source.is_meant else "findings.nan.made"
        return Text(
            key,
            place=place,
            name=facts.op_name(source.op),
            what=listing([f"{count:,} {word}" for count, word in counts if count]),
            total=sum(one.elements for one in bad),
        )
    tensor, numbers = source.tensor, flow.numbers.of(source.tensor, source.op)
    counted = Text(
        "findings.nan.counted",
        bad=numbers.nans + numbers.infs if numbers else 0,
        total=numbers.elements if numbers else 0,
    )
    key = "read_gradient" if source.kind == "gradient" else "brought_in"
    if source.kind == "outside" and facts.tensor_kind(tensor) == PARAMETER:
        key = "parameter_met" if event_behind(facts, source) is None else "parameter_written"
    return Text(
        f"findings.nan.{key}",
        place=place,
        what=what,
        shape=list(facts.shape(tensor)),
        counted=counted,
        name=facts.path(tensor) or facts.tensor_name(tensor),
    )
