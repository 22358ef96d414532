"""What to mark in the graphs: where NaN or Inf began, and the way it took."""

from __future__ import annotations

from paddle_lab.analysis.findings.finding import Mark
from paddle_lab.analysis.findings.nan.bad_gradients import BackwardEdges, BadGradients
from paddle_lab.analysis.findings.nan.ends import loss_tensors
from paddle_lab.analysis.findings.nan.sources import Flow, Source

_MOST_MARKS = 2_000


def path_marks(flow: Flow, source: Source) -> list[Mark]:
    """Return the marks of a source and of its way, in order: to the loss, and on in backward."""
    facts = flow.facts
    if source.kind == "backward":
        gradients = BadGradients(facts, source.backward_call, BackwardEdges(facts))
        nodes = gradients.path(source.grad_node)
        marks = [Mark("origin", op=source.op, grad_node=source.grad_node)]
        return [*marks, *(_grad_mark(flow, node) for node in nodes[1:])][:_MOST_MARKS]
    number = flow.sources.index(source)
    marks = [Mark("origin", op=source.op)]
    losses = loss_tensors(facts)
    for op in flow.bad_ops:
        if op <= source.op:
            continue
        outputs = facts.outputs(op)
        if any(
            number in flow.nan_of.get(tensor, ()) or number in flow.inf_of.get(tensor, ())
            for tensor in outputs
        ):
            marks.append(Mark("path", op=op))
        if losses.intersection(outputs):
            break  # what later steps make of it is another story
    if source.grad_node >= 0:
        gradients = BadGradients(facts, source.backward_call, BackwardEdges(facts))
        nodes = gradients.path(source.grad_node)
        marks.extend(_grad_mark(flow, node) for node in nodes)
    return marks[:_MOST_MARKS]


def _grad_mark(flow: Flow, node: int) -> Mark:
    return Mark("path", op=int(flow.facts.record.grad_nodes["op"][node]), grad_node=node)
