"""Which parameters somebody means to train."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from paddle_lab.analysis.findings.facts import FORWARD, OPTIMIZER, PARAMETER, Facts
from paddle_lab.trace.schema import ROLES
from paddle_lab.words import Text, listing, say

_INPUT = ROLES.index("input")

_KEEPS_ESTIMATES = frozenset(
    name + suffix
    for name in ("batch_norm", "sync_batch_norm", "spectral_norm")
    for suffix in ("", "_")
)
_ESTIMATES = slice(1, 3)
"""Which inputs of these ops are estimates: mean and variance, or two singular vectors."""


class Trained:
    """Parameters and the optimizers that hold them; parameters are named by their first values."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    @cached_property
    def steps(self) -> bool:
        """Whether any optimizer stepped."""
        return bool((self._facts.record.optimizers["steps"] > 0).any())

    @cached_property
    def holders(self) -> dict[int, list[int]]:
        """Optimizers that hold a parameter: those that stepped in the trace.

        Where none did, those that hold any parameter it used; a notebook has others too.
        """
        record = self._facts.record
        table = record.optimizer_parameters
        parameters = self._facts.first_values(table["tensor"]).tolist()
        held = list(zip(table["optimizer"].tolist(), parameters, strict=True))
        if self.steps:
            counted = set(np.flatnonzero(record.optimizers["steps"] > 0).tolist())
        else:
            counted = {optimizer for optimizer, parameter in held if parameter in self.used}
        holders: dict[int, list[int]] = {}
        for optimizer, parameter in held:
            if optimizer in counted:
                holders.setdefault(parameter, []).append(optimizer)
        return holders

    @cached_property
    def used(self) -> dict[int, list[int]]:
        """Parameters that forward ops read, and these ops."""
        facts = self._facts
        uses, ops, tensors = facts.record.uses, facts.record.ops, facts.record.tensors
        is_read = (uses["role"] == _INPUT) & (uses["op"] >= 0) & (uses["tensor"] >= 0)
        op, tensor = uses["op"][is_read], uses["tensor"][is_read]
        counts = (ops["phase"][op] == FORWARD) & (tensors["kind"][tensor] == PARAMETER)
        used: dict[int, list[int]] = {}
        parameters = facts.first_values(tensor[counts]).tolist()
        for parameter, reader in zip(parameters, op[counts].tolist(), strict=True):
            used.setdefault(parameter, []).append(reader)
        return used

    @cached_property
    def frozen(self) -> frozenset[int]:
        """Parameters whose ``stop_gradient`` was set."""
        facts = self._facts
        tensors = facts.record.tensors
        is_frozen = (tensors["kind"] == PARAMETER) & (tensors["stop_gradient"] != 0)
        stopped = (event.tensor for event in facts.events("gradient_stopped"))
        frozen = [one for one in stopped if one >= 0 and facts.tensor_kind(one) == PARAMETER]
        return frozenset(map(facts.first_value, [*np.flatnonzero(is_frozen).tolist(), *frozen]))

    @cached_property
    def estimates(self) -> frozenset[int]:
        """Parameters that their layer estimates as it runs: no gradient ever goes to them.

        Paddle has them frozen, but code that thaws all parameters of a layer thaws them too.
        """
        facts = self._facts
        return frozenset(
            parameter
            for parameter, ops in self.used.items()
            if all(
                facts.op_name(op) in _KEEPS_ESTIMATES
                and parameter in map(facts.first_value, facts.inputs(op)[_ESTIMATES])
                for op in ops
            )
        )

    def wants_gradient(self, parameter: int) -> bool:
        """Tell whether a parameter is trainable and, where an optimizer is known, held by one."""
        if parameter in self.frozen or parameter in self.estimates:
            return False
        return not self.holders or parameter in self.holders

    @cached_property
    def updated(self) -> frozenset[int]:
        """Parameters that an optimizer's op wrote to: they had a gradient, whoever made it."""
        facts, tensors = self._facts, self._facts.record.tensors
        made = (tensors["kind"] == PARAMETER) & (tensors["producer"] >= 0)
        rows = np.flatnonzero(made)
        is_step = facts.record.ops["phase"][tensors["producer"][rows]] == OPTIMIZER
        return frozenset(map(facts.first_value, rows[is_step].tolist()))

    def name(self, parameter: int) -> str:
        """Return what a person calls a parameter: ``encoder.fc.weight``.

        That is its path after the name of the model it was called in, or Paddle's name for it.
        """
        record = self._facts.record
        path = self._facts.path(parameter)
        if not path:
            return record.text(int(record.tensors["name"][parameter]))
        model = self._model(parameter)
        return f"{model}.{path}" if model else path

    def _model(self, parameter: int) -> str:
        record = self._facts.record
        layers = record.layers
        for op in self.used.get(parameter, ())[:1]:
            for scope in self._facts.scopes_around(int(record.ops["scope"][op])):
                layer = int(record.scopes["layer"][scope])
                if layer >= 0:
                    while layers["parent"][layer] >= 0:
                        layer = int(layers["parent"][layer])
                    return record.text(int(layers["path"][layer]))
        return ""


def listed(names: list[str], most: int = 4) -> Text | str:
    """Return names as a sentence has them: ```a`, `b` and 3 more``."""
    shown = [f"`{name}`" for name in names[:most]]
    left = len(names) - len(shown)
    if not left:
        return listing(shown)
    some = say("lists.between").join(shown)
    return Text("lists.more", some=some, n=left)
