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
from functools import cached_property

import numpy as np

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.finding import Found, Mark
from paddle_lab.analysis.findings.gradients.creations import Creations
from paddle_lab.analysis.findings.gradients.cuts import GradientCuts
from paddle_lab.analysis.findings.gradients.trained import Trained
from paddle_lab.analysis.findings.place import Place
from paddle_lab.analysis.graph.trees import Keys, nearest_marked
from paddle_lab.words import Text


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines that created layers which their model does not know."""
    cuts = facts.answer(GradientCuts)
    trained = cuts.trained
    if not trained.steps:
        return
    hidden, creations = _HiddenLayers(facts), facts.answer(Creations)
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


class _HiddenLayers:
    """Which layers ran inside a model that does not have them among its sublayers.

    A parameter's path begins at the layer that knows it. So below a layer that its model knows,
    some parameter's path begins with the layer's own; below a hidden one none does.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._used = facts.answer(Trained).used
        self._parent = facts.entry("layers", "parent")
        self._path = facts.text_entry("layers", "path")

    def around(self, parameter: int) -> tuple[int, int] | None:
        """Return the outermost hidden layer that a parameter is read in, and the model around it.

        None where it is read elsewhere as well.
        """
        found = {self._hidden_in(chain) for chain in self._chains(parameter)}
        hidden = found.pop() if len(found) == 1 else -1
        return (hidden, self._chain(hidden)[-1]) if hidden >= 0 else None

    def model_of(self, parameter: int) -> frozenset[int]:
        """Return the outermost layers that a parameter is read in."""
        return frozenset(chain[-1] for chain in self._chains(parameter))

    def _hidden_in(self, chain: tuple[int, ...]) -> int:
        return next((layer for layer in reversed(chain[:-1]) if layer not in self._known), -1)

    @cached_property
    def _known(self) -> frozenset[int]:
        """Layers below which a parameter's path begins with the layer's."""
        return frozenset(
            layer
            for parameter in self._used
            for chain in self._chains(parameter)
            for layer in chain
            if self._facts.path(parameter).startswith(f"{self._path(layer)}.")
        )

    def _chains(self, parameter: int) -> set[tuple[int, ...]]:
        """Return the layers around each use of a parameter, from the innermost out."""
        scope = self._facts.record.ops["scope"]
        scopes = np.unique(scope[self._used.get(parameter, [])])
        layers = np.unique(self._layer_of_scope[scopes])
        return {self._chain(layer) for layer in layers[layers >= 0].tolist()}

    @cached_property
    def _layer_of_scope(self) -> Keys:
        """The layer whose call is the innermost around each scope; -1 for none, and last for -1."""
        layers, parents = (self._facts.record.scopes[name] for name in ("layer", "parent"))
        around = nearest_marked(parents, layers >= 0)
        return np.append(np.where(around >= 0, layers[around], -1), -1)

    def _chain(self, layer: int) -> tuple[int, ...]:
        chain = [layer]
        while self._parent(chain[-1]) >= 0:
            chain.append(self._parent(chain[-1]))
        return tuple(chain)


CHECK = Check(
    kind="untrained-parameter",
    find=find,
    example="self.layers = [nn.Linear(4, 4) for _ in range(2)]",
    holds_on=(),  # an optimizer that steps in another part may hold them
)
