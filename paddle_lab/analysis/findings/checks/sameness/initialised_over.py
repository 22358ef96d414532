"""A parameter was initialised several times before its first use, so only the last time counts.

Contract: a special initialisation runs after the general one. ``Layer.apply`` visits all sublayers,
so a layer that initialises itself is initialised again by each layer around it.

The check reports a weight that was set to zero and then initialised by another line. It also
reports a line that ran for one parameter from three different places. It does not report two
places, or the initialisation that creates a parameter.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from paddle_lab.analysis.findings.parts import Called, Check, Facts, Found, Training, warning

_MOST_PLACES = 3


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines of initialisations that were overwritten."""
    training = facts.answer(Training)
    created = {facts.first_value(one.tensor): one.row for one in facts.events("created")}
    if not training.steps:
        return
    calls: dict[int, list[Called]] = {}
    for call in training.called("Initializer.__call__"):
        tensor = facts.first_value(call.event.tensor) if call.event.tensor >= 0 else -1
        is_own = call.event.row < created.get(tensor, -1)
        if tensor >= 0 and not is_own:
            calls.setdefault(tensor, []).append(call)
    several = ((tensor, every) for tensor, every in calls.items() if len(every) > 1)
    for tensor, every in several:
        used = (op for op in training.readings(tensor) if training.layers_around(op))
        first_use = next(used, facts.op_count)
        own = [call for call in every if call.event.ops_before <= first_use]
        lines = [training.user_places(call.event.stack) for call in own]
        name = facts.path(tensor) or facts.tensor_name(tensor)
        for (one, other), (line, next_line) in zip(pairwise(own), pairwise(lines), strict=True):
            is_zero = one.detail == ["Constant", "0.0"] and other.detail != one.detail
            is_weight = len(facts.shape(tensor)) > 1
            if is_zero and is_weight and line and next_line:
                yield warning("initialised-over.zero", line[0], -1, name=name, other=next_line[0])
        if len(set(map(tuple, lines))) >= _MOST_PLACES and len({line[0] for line in lines}) == 1:
            place = next((one for one in lines[0] if one not in lines[-1]), lines[0][0])
            yield warning("initialised-over.found", place, -1, name=name, n=len(lines))


CHECK = Check(
    find=find,
    example="nn.initializer.Constant(0.0)(block.out.weight)\nnet.apply(init_weights)",
)
