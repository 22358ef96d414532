"""The edges of backward graphs over which ``no_grad_vars`` of ``paddle.grad`` let nothing pass."""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.facts import Facts


def stopped_edges(facts: Facts, call: int) -> frozenset[tuple[int, int]]:
    """Return the pairs of grad nodes between which a backward call handed on no gradient.

    An op that reads two outputs of one other, of which only one was named, still hands the
    gradient of the other to the same grad node.

    Parameters
    ----------
    facts
        The record that is asked.
    call
        Row of ``backward_calls``.
    """
    stops = facts.stops.get(call)
    if not stops:
        return frozenset()
    leaves = {facts.first_value(tensor) for tensor in stops if facts.producer(tensor) < 0}
    makers = {facts.producer(tensor) for tensor in stops} - {-1}
    return frozenset(
        (source, target)
        for source, target in _edges(facts)
        if _is_leaf(facts, target, leaves)
        or (facts.op_of_node(target) in makers and _reads_alone(facts, source, target, stops))
    )


def _edges(facts: Facts) -> Iterator[tuple[int, int]]:
    edges = facts.record.grad_edges
    yield from zip(edges["source"].tolist(), edges["target"].tolist(), strict=True)


def _is_leaf(facts: Facts, node: int, leaves: set[int]) -> bool:
    leaf = facts.column("grad_nodes", "parameter")[node]
    return leaf >= 0 and facts.first_value(leaf) in leaves


def _reads_alone(facts: Facts, source: int, target: int, stops: frozenset[int]) -> bool:
    """Tell whether an op reads only the named ones of the tensors that another op made."""
    reader, maker = facts.op_of_node(source), facts.op_of_node(target)
    if reader < 0 or reader == maker:
        return False
    read = {one for one in facts.inputs(reader) if facts.producer(one) == maker}
    return bool(read) and read <= stops
