"""Layers that a model calls but does not know: kept in a plain list or dict, not registered."""

from __future__ import annotations

from functools import cached_property

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.trained import Trained


class HiddenLayers:
    """Which layers ran inside a model that does not have them among its sublayers.

    A parameter's path begins at the layer that knows it. So below a layer that its model knows,
    some parameter's path begins with the layer's own; below a hidden one none does.

    Parameters
    ----------
    facts
        The record that is asked.
    trained
        The parameters that ops read.
    """

    def __init__(self, facts: Facts, trained: Trained) -> None:
        self._facts = facts
        self._trained = trained
        layers = facts.record.layers
        self._parents: list[int] = layers["parent"].tolist()
        self._paths = [facts.record.text(code) for code in layers["path"].tolist()]

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
            for parameter in self._trained.used
            for chain in self._chains(parameter)
            for layer in chain
            if self._facts.path(parameter).startswith(f"{self._paths[layer]}.")
        )

    def _chains(self, parameter: int) -> set[tuple[int, ...]]:
        """Return the layers around each use of a parameter, from the innermost out."""
        scopes = self._facts.record.scopes
        found = set()
        for op in self._trained.used.get(parameter, ()):
            scope = int(self._facts.record.ops["scope"][op])
            while scope >= 0 and scopes["layer"][scope] < 0:
                scope = int(scopes["parent"][scope])
            if scope >= 0:
                found.add(self._chain(int(scopes["layer"][scope])))
        return found

    def _chain(self, layer: int) -> tuple[int, ...]:
        chain = [layer]
        while self._parents[chain[-1]] >= 0:
            chain.append(self._parents[chain[-1]])
        return tuple(chain)
