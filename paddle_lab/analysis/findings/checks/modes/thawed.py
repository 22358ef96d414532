"""``train()`` put frozen norms back into training mode, or a spectral norm was used too early.

Contract (``Layer.train``): the call sets all sublayers to training mode, so a frozen part needs
``eval()`` after each ``train()``. Otherwise its running statistics change. A spectral norm
(``paddle.nn.utils.spectral_norm``) estimates the norm of its weight only in training mode.

The check reports a norm with frozen parameters that was in eval mode inside a layer in training
mode, until ``train()``, if it then ran in training mode. It does not report norms that were never
set to ``eval()``, that are trained later, or spectral norms whose state was loaded.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.gradients.cuts import GradientCuts
from paddle_lab.analysis.findings.parts import Check, Facts, Found, Place, Training, warning


def find(facts: Facts) -> Iterator[Found]:
    """Yield the calls of ``train``, and of nets with a new spectral norm in eval mode."""
    training = facts.answer(Training)
    for call in training.called("thawed"):
        norm = facts.first_value(call.event.tensor) if call.event.tensor >= 0 else -1
        place, reached = training.place(call), facts.answer(GradientCuts).reach.leaves
        ops = [op for op in training.readings(norm) if op >= call.event.ops_before]
        is_active = any(training.attribute(op, "is_test") == "False" for op in ops)
        if is_active and norm not in reached and training.steps:
            yield warning("thawed.found", place, -1, layer=call.detail[0])
    loaded = {facts.first_value(one.tensor) for one in facts.events("overwritten")}
    for call in training.called("register_forward_pre_hook"):
        weight = facts.first_value(call.event.tensor) if call.event.tensor >= 0 else -1
        ops = [op for op in training.readings(weight) if training.layers_around(op)]
        modes = [training.layers_around(op)[0] in training.evaluating for op in ops]
        is_early = bool(modes) and modes[0] and not all(modes) and weight not in loaded
        place = facts.model_place(ops[0]) if is_early else Place()
        if is_early and call.detail[2] == "SpectralNorm":
            yield warning("thawed.spectral", place, ops[0])


CHECK = Check(find, example="net.backbone.eval()\nfor epoch in range(9):\n    net.train()")
