"""The gradients of several batches were summed for one step, but not averaged.

Contract: k accumulated batches equal one batch of k times the size if each mean loss is divided
by k.

The check reports backward calls of one line that ran equally often before each step, and at least
twice. The trace must have at least two steps, and each loss must be a mean that nothing divides.
The check does not report losses of different lines, sums over an episode, or gradients that are
divided afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.parts import Check, Facts, Found, Training, warning


def find(facts: Facts) -> Iterator[Found]:
    """Yield the line of backward calls whose losses are not divided."""
    training = facts.answer(Training)
    if len(training.steps_of) != 1 or len(training.steps) < 2:
        return
    calls = [call for each in training.calls_before_steps for call in each]
    stacks = {int(facts.record.backward_calls["stack"][call]) for call in calls}
    counts = {len(each) for each in training.calls_before_steps}
    if len(stacks) != 1 or len(counts) != 1 or min(counts) < 2:
        return
    roots = [facts.op_of_node(node) for call in calls for node in facts.roots(call)]
    is_mean = all(op >= 0 and facts.op_name(op) in {"mean", "mean_all"} for op in roots)
    if is_mean and len(set(roots)) == len(roots) and not training.reads_gradients:
        yield warning(
            "accumulated-sum.found", facts.place_of_stack(stacks.pop()), roots[0], n=counts.pop()
        )


CHECK = Check(
    find=find,
    example="loss.backward()  # four times for each opt.step(), instead of (loss / 4).backward()",
    holds_on=(),
)
