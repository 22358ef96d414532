"""A step used gradients that the loss of another optimizer had left.

Contract (Goodfellow et al. 2014): the generator and the discriminator have opposite losses, so a
step uses the gradients of its own loss only. A backward call adds to what the last one left.

The check reports a backward call whose gradients one optimizer used, if another optimizer then
used them too, together with those of a backward call at another line that only this optimizer
used. Both calls must reach all these parameters. So a loss that several optimizers use, parts
that step less often, a shared encoder and heads, and several losses before a step are not reported.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from paddle_lab.analysis.findings.parts import Check, Facts, Found, Step, Training, warning


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines of losses whose gradients another optimizer's step used."""
    training = facts.answer(Training)
    calls = [call for call in facts.user_backward_calls if not facts.is_paddle_grad(call)]
    begins = [facts.ops_before(call) for call in calls]
    after: dict[int, list[Step]] = {}  # the steps after each backward call
    for step in training.steps:
        after.setdefault(bisect_right(begins, step.first_op) - 1, []).append(step)
    for event in training.called("foreign_gradient"):
        at = bisect_right(begins, event.event.ops_before) - 1
        before = max((one for one in after if -1 < one < at), default=-1)
        users = [{str(step.number) for step in after.get(one, ())} for one in (at, before)]
        if before < 0 or users != [{one} for one in event.detail]:
            continue
        last, call = calls[at], calls[before]
        added, left = (facts.leaves_of_nodes(facts.nodes_of_calls([one])) for one in (last, call))
        held, others = (training.examined(int(one)) for one in event.detail)
        reached = added & held
        stacks = facts.record.backward_calls["stack"][[call, last]]
        if stacks[0] == stacks[1] or not reached or reached - left:
            continue
        root = facts.op_of_node(facts.roots(call)[0])
        is_through = bool(added & others) and root >= 0  # detach, rather than clear later
        step, own = after[at][0], training.step_place(after[at][0])
        place, key = (facts.place(root), "through") if is_through else (own, "left")
        values = {"step": own, "backward": facts.place_of_call(call)}
        yield warning(f"foreign-gradients.{key}", place, step.first_op, **values)


CHECK = Check(find, example="bce(critic(generator(z)), zeros).backward()  # without detach()")
