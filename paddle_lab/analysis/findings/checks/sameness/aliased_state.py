"""``state_dict()`` was kept as a checkpoint while steps went on: it changed with the net.

Contract (``Layer.state_dict``): it returns the parameters themselves. A checkpoint is a copy:
``copy.deepcopy(net.state_dict())``, or a file.

The check reports a dict that was loaded or saved after later steps. It does not report a dict that
was loaded or saved before the next step.

It also reports a net that is set to its own parameters after steps. This changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from paddle_lab.analysis.findings.parts import Check, Facts, Found, Training, warning


def find(facts: Facts) -> Iterator[Found]:
    """Yield the calls of ``state_dict`` whose result was used as a checkpoint."""
    training = facts.answer(Training)
    taken = {call.detail[0]: call for call in training.called("state_dict")}
    saves = Counter(call.detail[0] for call in training.called("save"))
    for call in training.called("set_state_dict", "save"):
        source = taken.get(call.detail[0])
        if source is None:
            continue
        start, end = source.event.ops_before, call.event.ops_before
        steps = sum(start <= step.first_op < end for step in training.steps)
        # A dict that was taken before the loop and is saved in it follows the net on purpose.
        is_taken_late = any(-1 < step.first_op < start for step in training.steps)
        if steps and (call.name != "save" or (is_taken_late and saves[call.detail[0]] == 1)):
            yield warning("aliased-state.found", training.place(source), -1, n=steps,
                          used=training.place(call))  # fmt: skip
        elif call.name == "set_state_dict" and call.detail[1] == "1":
            lines = [one for one in taken.values() if one.event.stack == source.event.stack]
            starts = [one.event.ops_before for one in lines]
            if any(starts[0] <= step.first_op < starts[-1] for step in training.steps):
                yield warning("aliased-state.best", training.place(source), -1, n=len(lines),
                              used=training.place(call))  # fmt: skip
            elif _is_trained(training, end):
                yield warning("aliased-state.itself", training.place(call), -1)
    loads = {training.place(call) for call in training.called("set_state_dict")}
    for event in facts.events("overwritten") if facts.step_ends else ():
        place, is_late = facts.place_of_stack(event.stack), event.ops_before >= facts.step_ends[0]
        if event.detail.endswith(" itself") and is_late and place not in loads:
            yield warning("aliased-state.itself", place, -1)


def _is_trained(training: Training, op: int) -> bool:
    """Tell whether optimizers took steps before and after an op."""
    firsts = [step.first_op for step in training.steps if step.first_op >= 0]
    return bool(firsts) and firsts[0] < op <= firsts[-1]


CHECK = Check(find, example="best = net.state_dict()\n…\nnet.set_state_dict(best)")
