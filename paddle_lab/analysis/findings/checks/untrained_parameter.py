"""Layers in a plain Python list: they get gradients, but no optimizer holds their parameters.

``self.layers = [nn.Linear(4, 4)]`` registers nothing. ``parameters()`` omits such layers: the
optimizer never updates them and ``state_dict()`` does not save them. The loss still falls as far as
the rest of the model allows.

It is an alarm if an optimizer that stepped holds other parameters of the model, the hidden layer's
parameters got gradients, and the layer was created in this trace. Layers from before may be hidden
on purpose, like a network that only computes a loss: they are a hint. No alarm: frozen layers, and
layers that the model registers but the optimizer omits on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from paddle_lab.analysis.findings.gradients.cuts import GradientCuts
from paddle_lab.analysis.findings.gradients.trained import Trained
from paddle_lab.analysis.findings.parts import Check, Facts, Found, Mark, Place, found, walk
from paddle_lab.analysis.graph.scopes import layers_of_scopes


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines that created layers which their model does not know."""
    cuts = facts.answer(GradientCuts)
    trained = cuts.trained
    if not trained.steps:
        return
    chains = _layer_chains(facts, trained)
    # A model registers a layer if the path of some parameter that the layer reads begins with the
    # layer's path. A hidden layer has no such parameter.
    known = {
        layer
        for parameter, its_chains in chains.items()
        for chain in its_chains
        for layer in chain
        if facts.path(parameter).startswith(f"{facts.layer_path(layer)}.")
    }
    trained_models = {chain[-1] for one in trained.holders for chain in chains.get(one, ())}
    of_layer: dict[tuple[int, int], list[int]] = {}
    for parameter in sorted(cuts.reach.leaves & trained.used.keys()):
        if parameter in trained.holders or parameter in trained.frozen:
            continue
        # The outermost hidden layer that reads the parameter, and the model around it.
        hidden = {
            next(((layer, chain[-1]) for layer in reversed(chain[:-1]) if layer not in known), None)
            for chain in chains[parameter]
        }
        around = hidden.pop() if len(hidden) == 1 else None
        if around is not None and around[1] in trained_models:
            of_layer.setdefault(around, []).append(parameter)
    groups: dict[tuple[Place, int], list[int]] = {}
    for (_, model), parameters in of_layer.items():
        place = trained.creation_place(parameters, list(trained.holders))
        if not place.line:
            place = facts.place(trained.used[parameters[0]][0])
        groups.setdefault((place, model), []).extend(parameters)
    for (place, model), parameters in groups.items():
        is_made_here = all(one in trained.creation_lines for one in parameters)
        ops = sorted({trained.used[one][0] for one in parameters})
        yield found(
            "untrained-parameter.found",
            place,
            ops[0],
            severity="warning" if is_made_here else "info",
            marks=[Mark("related", op) for op in ops[:8]],
            n=len(parameters),
            name=facts.layer_path(model),
        )


def _layer_chains(facts: Facts, trained: Trained) -> dict[int, set[tuple[int, ...]]]:
    """Return the layers around the uses of each parameter that is read, the innermost first."""
    scope, parent = facts.record.ops["scope"], facts.record.layers["parent"].tolist()
    layer_of_scope = layers_of_scopes(facts.record)
    chains: dict[int, set[tuple[int, ...]]] = {}
    for parameter, ops in trained.used.items():
        layers = np.unique(layer_of_scope[scope[ops]])
        chains[parameter] = {
            tuple(walk([layer], lambda one: [parent[one]] if parent[one] >= 0 else []))
            for layer in layers[layers >= 0].tolist()
        }
    return chains


CHECK = Check(
    find=find,
    example="self.layers = [nn.Linear(4, 4) for _ in range(2)]",
    holds_on=(),  # an optimizer that steps in another part of the code may hold them
)
