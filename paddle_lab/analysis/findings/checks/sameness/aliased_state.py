"""``state_dict()`` was kept as a checkpoint while steps went on: it changed with the net.

Contract (``Layer.state_dict``): it returns the parameters themselves. A checkpoint is a copy:
``copy.deepcopy(net.state_dict())``, or a file.

The check reports a dict that was loaded or saved after further steps. It does not report a dict
that is loaded or saved before further steps.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.facts.training import Training
from paddle_lab.analysis.findings.finding import Found, warning


def find(facts: Facts) -> Iterator[Found]:
    """Yield the calls of ``state_dict`` whose result was used as a checkpoint."""
    training = facts.answer(Training)
    taken = {call.detail[0]: call for call in training.called("state_dict")}
    for call in training.called("set_state_dict", "save"):
        source = taken.get(call.detail[0])
        if source is None:
            continue
        start, end = source.event.ops_before, call.event.ops_before
        steps = sum(start <= step.first_op < end for step in training.steps)
        # A dict that was taken before the loop and is saved in it follows the net on purpose.
        if steps and (call.name != "save" or training.turns_around(source.event.scope)):
            yield warning("aliased-state.found", training.place(source), -1, n=steps,
                          used=training.place(call))  # fmt: skip


CHECK = Check(
    kind="aliased-state",
    find=find,
    example="best = net.state_dict()\n…\nnet.set_state_dict(best)",
    shared_cost="always",
    holds_on=(),
)
