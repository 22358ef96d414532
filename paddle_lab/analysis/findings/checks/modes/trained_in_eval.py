"""A net was trained in ``eval()`` mode.

Contract (``Layer.eval``): dropout is off, and batch norm uses running statistics, which no longer
change. After validation, a net must be set back with ``train()``.

The check reports a net whose outermost layer is in eval mode, which contains dropout or batch norm
in eval mode, and whose parameters steps changed. It does not report frozen norms in a net in
training mode, or a net with parameters that were once frozen.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.gradients.cuts import GradientCuts
from paddle_lab.analysis.findings.parts import PARAMETER, Facts, Found, Place, Training, warning

_FEWEST = 2


def find(facts: Facts) -> Iterator[Found]:
    """Yield the calls of ``eval`` after which a net was trained."""
    training = facts.answer(Training)
    calls = [call for call in facts.user_backward_calls if not facts.is_paddle_grad(call)]
    is_used = facts.ops_of_nodes(facts.nodes_of_calls(calls))
    changed = {row[0] for rows in training.looked.values() for row in rows if row[2]}
    frozen = facts.answer(GradientCuts).trained.frozen
    inside: dict[int, list[int]] = {}
    for op in training.forward_ops("dropout", "batch_norm", "batch_norm_"):
        around = training.layers_around(op)
        is_test = training.attribute(op, "is_test") == "True"
        is_off = training.attribute(op, "p") in {"0", "0.0"}
        is_eval = is_test and bool(around) and around[-1] in training.evaluating
        if is_eval and is_used[op] and not is_off:
            inside.setdefault(around[-1], []).append(op)
    steps = [step.first_op for step in training.steps]
    places: dict[Place, set[int]] = {}
    for root, ops in inside.items():
        if (
            not _owns(training, root, changed - frozen)
            or _owns(training, root, changed & frozen)
            or not any(step > ops[0] for step in steps)
        ):
            continue
        place = _eval_place(training, ops[0])
        if place is not None:  # else the mode was set before the trace, perhaps on purpose
            places.setdefault(place, set()).add(root)
    for place, roots in places.items():
        if len(roots) >= _FEWEST:
            op = inside[min(roots)][0]
            yield warning("trained-in-eval.found", place, op, n=len(roots),
                          called=facts.model_place(op))  # fmt: skip


def _owns(training: Training, root: int, changed: set[int]) -> bool:
    """Tell whether an op in a layer's call read a changed parameter of a layer, not an input."""
    facts = training.facts
    scopes = facts.layer_calls[facts.record.ops["scope"]]
    for op in (scopes == root).nonzero()[0].tolist():
        parameters = [one for one in facts.inputs(op) if facts.tensor_kind(one) == PARAMETER]
        if any(facts.path(one) and facts.first_value(one) in changed for one in parameters):
            return True
    return False


def _eval_place(training: Training, op: int) -> Place | None:
    modes = [call for call in training.called("train", "eval") if call.event.ops_before <= op]
    last = modes[-1] if modes else None
    return training.place(last) if last is not None and last.detail[-1] == "0" else None


CHECK = Check(find, example="validate(net)  # calls net.eval()\nloss = F.cross_entropy(net(x), y)")
