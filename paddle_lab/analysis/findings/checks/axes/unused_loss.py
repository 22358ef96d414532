"""A loss was computed with its graph, but no backward call used this graph.

Contract: each term that should train the net is part of the tensor on which backward is called.

The check reports a line that computed a loss of one value at least twice, if nothing read these
values and backward calls ran on other losses. It does not report a loss that is logged, that is
still kept, or that has no graph.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.facts.training import Training
from paddle_lab.analysis.findings.finding import Found, warning

_MADE_OF = frozenset(("mean", "mean_all", "sum", "multiply", "scale", "add", "subtract", "divide"))


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines of losses that nothing used."""
    calls = [call for call in facts.user_backward_calls if not facts.backward_error(call)]
    if len(calls) < 2:
        return
    training = facts.answer(Training)
    is_used = facts.ops_of_nodes(facts.nodes_of_calls(calls))
    roots = {facts.op_of_node(node) for call in calls for node in facts.roots(call)}
    used_stacks = {facts.stack(op) for op in roots if op >= 0}
    used_stacks |= {facts.stack(op) for op in np.flatnonzero(is_used).tolist()}
    by_stack: dict[int, list[int]] = {}
    last = max(facts.ops_before(call) for call in calls)
    for op in training.forward_ops(*_MADE_OF):
        outputs = facts.outputs(op)
        if is_used[op] or op in roots or op >= last or len(outputs) != 1:
            continue
        result = outputs[0]
        is_number = facts.shape(result) in {(), (1,)} and facts.needs_grad(result)
        if is_number and result in facts.living and facts.function(facts.stack(op)) != "<module>":
            used_stacks.add(facts.stack(op))  # kept in an attribute or a container
        if is_number and training.is_unused(result) and not facts.is_in_pylayer(op):
            by_stack.setdefault(facts.stack(op), []).append(op)
    for ops in by_stack.values():
        if len(ops) > 1 and facts.stack(ops[0]) not in used_stacks:
            yield warning("unused-loss.found", facts.place(ops[0]), ops[0], n=len(ops))


CHECK = Check(
    find=find,
    example="auxiliary = 0.4 * F.cross_entropy(aux, y)\nloss.backward()  # without auxiliary",
    holds_on=(),
)
