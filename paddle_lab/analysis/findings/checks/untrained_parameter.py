"""Layers in a plain Python list: gradients come to them, and no optimizer knows them.

``self.layers = [nn.Linear(4, 4)]`` registers nothing. ``parameters()`` leaves such layers out, so
that the optimizer never updates them and ``state_dict()`` does not save them, while the loss falls
as far as the rest of the model can bring it.

It is an alarm where an optimizer that stepped holds other parameters of the model, gradients came
to the hidden layer's, and the layer was created in this trace. Layers from before may be kept out
of sight on purpose, as a loss network is: they are a hint. Frozen layers are none, nor are those
that the model knows and somebody leaves out of the optimizer.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.finding import Found, Mark
from paddle_lab.analysis.findings.gradients.creations import Creations
from paddle_lab.analysis.findings.gradients.cuts import GradientCuts
from paddle_lab.analysis.findings.gradients.hidden_layers import HiddenLayers
from paddle_lab.analysis.findings.place import Place
from paddle_lab.words import Text


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines that created layers which their model does not know."""
    cuts = facts.answer(GradientCuts)
    trained = cuts.trained
    if not trained.steps:
        return
    hidden, creations = HiddenLayers(facts), facts.answer(Creations)
    trained_models = {model for one in trained.holders for model in hidden.model_of(one)}
    of_layer: dict[tuple[int, int], list[int]] = {}
    for parameter in sorted(cuts.reach.leaves & trained.used.keys()):
        if parameter in trained.holders or parameter in trained.frozen:
            continue
        around = hidden.around(parameter)
        if around is not None and around[1] in trained_models:
            of_layer.setdefault(around, []).append(parameter)
    groups: dict[tuple[Place, int], list[int]] = {}
    for (_, model), parameters in of_layer.items():
        place = creations.place(parameters, list(trained.holders))
        if not place.line:
            place = facts.place(trained.used[parameters[0]][0])
        groups.setdefault((place, model), []).extend(parameters)
    for (place, model), parameters in groups.items():
        is_made_here = all(one in creations.lines for one in parameters)
        ops = [trained.used[one][0] for one in parameters]
        name = facts.record.text(int(facts.record.layers["path"][model]))
        count = len(parameters)
        yield Found(
            place=place,
            op=min(ops),
            severity="warning" if is_made_here else "info",
            message=Text("findings.untrained-parameter.found", place=place, n=count, name=name),
            marks=[Mark("related", op=op) for op in sorted(set(ops))[:8]],
        )


CHECK = Check(
    kind="untrained-parameter",
    find=find,
    example="self.layers = [nn.Linear(4, 4) for _ in range(2)]",
    holds_on=(),  # an optimizer that steps in another part may hold them
)
