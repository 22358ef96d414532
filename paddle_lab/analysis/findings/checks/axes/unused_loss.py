"""A loss was computed with its graph, but no backward call used this graph.

Contract: each term that should train the net is part of the tensor on which backward is called.

The check reports a line that computed a loss of one value at least twice, if nothing read these
values and backward calls ran on other losses. It does not report a loss that is logged, that is
still kept, or that has no graph.

It also reports a sum in which a term counts twice, or has no gradient because it was computed from
a detached result of the net, and a loop that computes a loss in each turn, if only that of the last
turn is used. It reports `loss = loss + penalty` after the loss went through backward, if the
penalty depends on the weights alone and no optimizer decays them: then the sum may be a log.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

import numpy as np

from paddle_lab.analysis.findings.facts.ops import Mask
from paddle_lab.analysis.findings.gradients.unused_calls import UnusedCalls
from paddle_lab.analysis.findings.parts import Check, Facts, Found, Training, walk, warning

_FEWEST_LOST = 4
_MADE_OF = frozenset(("mean", "mean_all", "sum", "multiply", "scale", "add", "subtract", "divide"))
_ADDED_TO_ITSELF = re.compile(r"([\w.]+) *(\+=|= *\1 *\+|=.*\+ *\1$)")
_DECAYING = ("add_n", "adamw_")
_PRODUCTS = {"multiply", "divide"}


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
        terms = [one for one in map(facts.producer, facts.inputs(op)) if one >= 0]
        is_sum = facts.op_name(op) == "add" and all(is_used[terms])  # of terms that are trained
        if is_number and training.is_unused(result) and not (is_sum or facts.is_in_pylayer(op)):
            by_stack.setdefault(facts.stack(op), []).append(op)
    yield from _terms(training, calls)
    yield from _after(training, calls, is_used)
    for stack, ops in by_stack.items():
        if len(ops) > 1 and stack not in used_stacks:
            yield warning("unused-loss.found", facts.place(ops[0]), ops[0], n=len(ops))
        elif len(ops) >= _FEWEST_LOST and _are_overwritten(training, ops, is_used):
            yield warning("unused-loss.overwritten", facts.place(ops[0]), ops[0], n=len(ops))


def _terms(training: Training, calls: list[int]) -> Iterator[Found]:
    """Yield sums that backward calls began at, if a term has no gradient or is in them twice."""
    facts = training.facts
    for root in (facts.op_of_node(node) for call in calls for node in facts.roots(call)):
        if root < 0:
            continue
        ops = [op for op in walk([root], lambda op: _summed(facts, op)) if _is_linear(facts, op)]
        terms = [one for op in ops for one in facts.inputs(op)]
        if any(terms.count(one) > 1 for one in terms if facts.needs_grad(one)):
            yield warning("unused-loss.twice", facts.place(root), root)
        for op in ops:
            lost = [one for one in facts.inputs(op) if not facts.needs_grad(one)]
            sources = (facts.detached_from(one) for term in lost for one in facts.before(term))
            is_cut_off = any(one >= 0 and facts.needs_grad(one) for one in sources)
            if facts.op_name(op) == "add" and len(lost) == 1 and is_cut_off:
                yield warning("unused-loss.constant", facts.place(op), op)


def _after(training: Training, calls: list[int], is_used: Mask) -> Iterator[Found]:
    """Yield sums that add a penalty of the weights to a loss after its backward call."""
    facts = training.facts
    call_of = {facts.op_of_node(node): call for call in calls for node in facts.roots(call)}
    late: dict[int, list[int]] = {}
    for op in training.forward_ops("add", "add_"):
        terms = [facts.producer(one) for one in facts.inputs(op)]
        call = next((call_of[one] for one in terms if one in call_of), -1)
        if call < 0 or len(terms) != 2 or facts.ops_before(call) > op or is_used[op]:
            continue
        other = terms[terms[0] in call_of]
        code = facts.place(op).code.partition("  #")[0].rstrip()
        is_trained = other < 0 or is_used[other] or not facts.needs_grad(facts.outputs(op)[0])
        if is_trained or not _ADDED_TO_ITSELF.match(code):
            continue
        if facts.answer(UnusedCalls).reads_weights_alone(other):
            late.setdefault(facts.stack(op), []).append(op)
    for ops in late.values():
        if len(ops) > 1 and not facts.ops_named(_DECAYING):
            yield warning("unused-loss.after", facts.place(ops[0]), ops[0])


def _is_linear(facts: Facts, op: int) -> bool:
    """Tell whether an op adds numbers, or multiplies one by a constant."""
    is_number = facts.shape(facts.outputs(op)[0]) in {(), (1,)}
    factors = sum(map(facts.needs_grad, facts.inputs(op)))
    name = facts.op_name(op)
    return is_number and (name in {"add", "scale"} or (name in _PRODUCTS and factors == 1))


def _summed(facts: Facts, op: int) -> list[int]:
    """Return the ops that made the numbers that an op adds or scales."""
    return [facts.producer(one) for one in facts.inputs(op) if facts.producer(one) >= 0
            and _is_linear(facts, op)]  # fmt: skip


def _are_overwritten(training: Training, ops: list[int], is_used: Mask) -> bool:
    """Tell whether backward calls used only the last of several losses of one line, each time."""
    facts = training.facts
    ends = sorted(facts.ops_before(call) - 1 for call in facts.user_backward_calls)
    groups: dict[int, list[int]] = {}
    for op in training.forward_ops(facts.op_name(ops[0])):
        if facts.stack(op) == facts.stack(ops[0]):
            groups.setdefault(bisect_right(ends, op), []).append(op)
    last = max(groups)
    is_last = [is_used[every[-1]] and set(every[:-1]) <= {*ops} for every in groups.values()]
    return last > 0 and all(is_last) and min(map(len, groups.values())) > 2


CHECK = Check(
    find=find,
    example="auxiliary = 0.4 * F.cross_entropy(aux, y)\nloss.backward()  # without auxiliary",
    holds_on=(),
)
