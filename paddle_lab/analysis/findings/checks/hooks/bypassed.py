"""A layer's hooks or its wrapper were bypassed.

Contract (``Layer.__call__``, ``paddle.DataParallel``): ``layer(x)`` runs the layer's hooks,
``layer.forward(x)`` does not. Weight norm and spectral norm are such hooks. The gradients of the
ranks are averaged only if the ``DataParallel`` wrapper is called, not the layer inside it.

The check reports layers with parameters that got a hook or a wrapper in this trace. A wrapper is
reported only if a backward call used the results of the layer inside. A gradient hook is reported
if its parameter is no longer used, and a parameter of the same shape was made later. It also
reports results of a hook that nothing uses, and a weight that is set although weight norm computes
it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import FORWARD, Facts
from paddle_lab.analysis.findings.parts import Called, Found, Place, Training, warning
from paddle_lab.analysis.source.stacks import stack_of
from paddle_lab.trace.trees import grouped


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines that bypass hooks or wrappers."""
    training = facts.answer(Training)
    for call in training.called("register_forward_pre_hook", "register_forward_post_hook"):
        yield from _past_hook(training, call)
    yield from _lost_hooks(training)
    yield from _overwritten_weights(training)
    yield from _unused_results(training)
    calls = [call for call in facts.user_backward_calls if not facts.is_paddle_grad(call)]
    is_used = facts.ops_of_nodes(facts.nodes_of_calls(calls))
    for call in training.called("DataParallel.__init__"):
        parameter = call.event.tensor
        ops = [op for op in training.readings(parameter) if is_used[op]]
        ops = [op for op in ops if training.classes_around(op)[-1:] != ["DataParallel"]]
        if ops:
            yield warning("bypassed.wrapper", facts.model_place(ops[0]), ops[0],
                          made=training.place(call))  # fmt: skip


def _past_hook(training: Training, call: Called) -> Iterator[Found]:
    facts, name = training.facts, call.detail[0]
    if call.event.tensor < 0:
        return
    for op in training.readings(call.event.tensor):
        is_inside = name in training.classes_around(op)
        place = _forward_place(facts, op)
        if op >= call.event.ops_before and not is_inside and place is not None:
            yield warning("bypassed.hook", place, op, layer=name, made=training.place(call))
            return


def _forward_place(facts: Facts, op: int) -> Place | None:
    """Return the user's line that called ``forward``."""
    frames = stack_of(facts.record, facts.stack(op))
    frames = [one for one in frames if not one.function.endswith("decorator.<locals>.wrapper")]
    for callee, caller in pairwise(frames):
        if callee.function.rsplit(".", 1)[-1] == "forward" and caller.kind == "user":
            return Place.of(caller)
    return None


def _overwritten_weights(training: Training) -> Iterator[Found]:
    """Yield writes into a weight that weight norm or spectral norm then computes again."""
    facts = training.facts
    for event in facts.events("overwritten"):
        maker, place = facts.producer(event.tensor), facts.place_of_stack(event.stack)
        frames = stack_of(facts.record, facts.stack(maker)) if maker >= 0 else []
        is_norm = any(one.function.startswith(("WeightNorm.", "SpectralNorm.")) for one in frames)
        is_read = any(op >= event.ops_before for op in facts.consumers(event.tensor))
        if is_norm and not is_read:
            yield warning("bypassed.weight", place, maker)
            return


def _unused_results(training: Training) -> Iterator[Found]:
    """Yield lines of hooks whose results nothing uses, because the hooks do not return them."""
    facts = training.facts
    forward = np.flatnonzero(facts.record.ops["phase"] == FORWARD)
    for stack, rows in grouped(facts.record.ops["stack"][forward]).items():
        name = _users_hook(facts, stack)
        if name is None:
            continue
        ops = forward[rows].tolist()
        unused = [op for op in ops if facts.outputs(op)
                  and all(map(training.is_unused, facts.outputs(op)))]  # fmt: skip
        kept = [op for op in ops if op not in unused
                and facts.living.intersection(facts.outputs(op))]  # fmt: skip
        if len(unused) > 1 and not kept:
            yield warning("bypassed.unused", facts.place_of_stack(stack), unused[0], hook=name)


def _users_hook(facts: Facts, stack: int) -> str | None:
    """Return the name of the user's hook in which a stack is."""
    frames = stack_of(facts.record, stack)
    hooks = [
        one for one, by in pairwise(frames) if by.function.endswith("_call_func.<locals>.inner")
    ]
    name = hooks[0].function.rsplit(".", 1)[-1] if hooks else "forward"
    return name if hooks and hooks[0].kind == "user" and name != "forward" else None


def _lost_hooks(training: Training) -> Iterator[Found]:
    """Yield the lines that put a hook on a parameter that was then replaced by another one."""
    facts = training.facts
    made = [one for one in facts.events("created") if one.detail == "parameter"]
    reached = facts.leaves_of_nodes(facts.nodes_of_calls(facts.user_backward_calls))
    for call in training.called("register_hook"):
        old, place = facts.first_value(call.event.tensor), training.place(call)
        late = [
            one for one in made
            if one.row > call.event.row and facts.first_value(one.tensor) in reached
            and facts.shape(one.tensor) == facts.shape(old)
        ]  # fmt: skip
        is_read = any(op >= call.event.ops_before for op in training.readings(old))
        if late and old not in reached and not is_read:
            new = facts.place_of_stack(late[0].stack)
            yield warning("bypassed.lost", place, -1, name=facts.tensor_name(old), made=new)


CHECK = Check(find, example="layer.register_forward_post_hook(hook)\ny = layer.forward(x)")
