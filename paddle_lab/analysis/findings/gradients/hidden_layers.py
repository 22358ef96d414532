"""Layers that a model calls but does not know: kept in a plain list or dict, not registered."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.gradients.trained import Trained
from paddle_lab.analysis.graph.trees import Keys, nearest_marked


class HiddenLayers:
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
