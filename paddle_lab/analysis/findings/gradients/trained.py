"""Finds which parameters should be trained, and which lines created these parameters."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

import numpy as np

from paddle_lab.analysis.findings.facts import FORWARD, OPTIMIZER, PARAMETER, Facts
from paddle_lab.analysis.findings.finding import Place
from paddle_lab.analysis.graph.scopes import layers_of_scopes
from paddle_lab.analysis.source.stacks import stack_of
from paddle_lab.trace.schema import ROLES
from paddle_lab.trace.trees import grouped
from paddle_lab.words import listing

_KEEPS_ESTIMATES = re.compile(r"(sync_)?batch_norm_?|spectral_norm_?")
_ESTIMATES = slice(1, 3)
"""Which inputs of these ops are estimates: mean and variance, or two singular vectors."""
_NUMBER = re.compile(r"(?<![^.])\d+(?![^.])")


class Trained:
    """The parameters, identified by their first values, and the optimizers that have them."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.steps = bool((facts.record.optimizers["steps"] > 0).any())
        """Whether any optimizer stepped."""

    @cached_property
    def holders(self) -> dict[int, list[int]]:
        """For each parameter: the optimizers that have it and made a step in the trace.

        If no optimizer made a step: those that have at least one parameter used in the trace.
        """
        record = self._facts.record
        table = record.optimizer_parameters
        parameters = self._facts.first_values[table["tensor"]].tolist()
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
        """For each parameter that forward ops read: these ops."""
        uses, ops, tensors = (getattr(self._facts.record, n) for n in ("uses", "ops", "tensors"))
        known = (uses["op"] >= 0) & (uses["tensor"] >= 0)
        op, tensor = uses["op"][known], uses["tensor"][known]
        counts = (uses["role"][known] == ROLES.index("input")) & (ops["phase"][op] == FORWARD)
        counts &= tensors["kind"][tensor] == PARAMETER
        reader = op[counts]
        rows = grouped(self._facts.first_values[tensor[counts]])
        return {parameter: reader[its_rows].tolist() for parameter, its_rows in rows.items()}

    @cached_property
    def frozen(self) -> frozenset[int]:
        """Parameters whose ``stop_gradient`` was set."""
        facts, tensors = self._facts, self._facts.record.tensors
        is_frozen = (tensors["kind"] == PARAMETER) & (tensors["stop_gradient"] != 0)
        stopped = [event.tensor for event in facts.events("gradient_stopped") if event.tensor >= 0]
        is_frozen[[one for one in stopped if facts.tensor_kind(one) == PARAMETER]] = True
        return frozenset(facts.first_values[is_frozen].tolist())

    @cached_property
    def estimates(self) -> frozenset[int]:
        """Parameters that their layer estimates while it runs. They never get a gradient.

        Paddle freezes such parameters, but code that unfreezes all parameters of a layer also
        unfreezes these.
        """
        facts = self._facts
        return frozenset(
            parameter
            for parameter, ops in self.used.items()
            if all(
                _KEEPS_ESTIMATES.fullmatch(facts.op_name(op))
                and parameter in map(facts.first_value, facts.inputs(op)[_ESTIMATES])
                for op in ops
            )
        )

    def wants_gradient(self, parameter: int) -> bool:
        """Tell whether a parameter is trainable and belongs to an optimizer, if any is known."""
        if parameter in self.frozen or parameter in self.estimates:
            return False
        return not self.holders or parameter in self.holders

    @cached_property
    def updated(self) -> frozenset[int]:
        """Parameters that an optimizer's op updated. So they must have had a gradient."""
        facts, tensors = self._facts, self._facts.record.tensors
        rows = np.flatnonzero((tensors["kind"] == PARAMETER) & (tensors["producer"] >= 0))
        is_step = facts.record.ops["phase"][tensors["producer"][rows]] == OPTIMIZER
        return frozenset(facts.first_values[rows[is_step]].tolist())

    def names(self, parameters: list[int]) -> str:
        """Return parameters as part of a sentence: ```fc.weight`, `fc.bias` and 3 more``."""
        return listing([f"`{name}`" for name in sorted(map(self._name, parameters))], most=4)

    def _name(self, parameter: int) -> str:
        """Return a parameter's path, after the model's name; if it has no path, Paddle's name."""
        record, path = self._facts.record, self._facts.path(parameter)
        if not path:
            return record.text(int(record.tensors["name"][parameter]))
        uses, parent = self.used.get(parameter, [])[:1], record.layers["parent"]
        layer = int(layers_of_scopes(record)[record.ops["scope"][uses[0]]]) if uses else -1
        while layer >= 0 and parent[layer] >= 0:
            layer = int(parent[layer])
        model = self._facts.layer_path(layer) if layer >= 0 else ""
        return f"{model}.{path}" if model else path

    # -- where parameters were created --------------------------------------------------------

    @cached_property
    def creation_lines(self) -> dict[int, list[Place]]:
        """For each new parameter: the user's lines that created it, the innermost first."""
        facts = self._facts
        stacks: dict[int, int] = {}
        for event in facts.events("created"):
            if event.tensor >= 0 and facts.tensor_kind(event.tensor) == PARAMETER:
                stacks.setdefault(facts.first_value(event.tensor), event.stack)
        return {
            parameter: [
                Place.of(one) for one in stack_of(facts.record, stack) if one.kind == "user"
            ]
            for parameter, stack in stacks.items()
        }

    def creation_place(self, parameters: list[int], others: list[int]) -> Place:
        """Return the innermost line that created all of some parameters and none of the others.

        One function may create both these parameters and the others. Then the caller's line is
        returned. If all their lines are shared, the innermost line that created all the parameters
        is returned.
        """
        first, *rest = (self.creation_lines.get(one, []) for one in parameters)
        lines = [line for line in first if all(line in more for more in rest)]
        shared = {line for other in others for line in self.creation_lines.get(other, ())}
        own = [line for line in lines if line not in shared]
        return next(iter(own or lines), Place())

    def is_alternative(self, parameter: int) -> bool:
        """Tell whether an unused parameter belongs to a group of which each step uses only some.

        Examples are experts, branches and dropped blocks. The parameters of a group were made by
        the same lines, or are numbered in one list.
        """
        return self._family(parameter) in self._chosen

    @cached_property
    def _chosen(self) -> frozenset[object]:
        read_in: dict[object, set[frozenset[int]]] = {}
        for parameter, ops in self.used.items():
            steps = frozenset(bisect_right(self._facts.step_ends, op) for op in ops)
            read_in.setdefault(self._family(parameter), set()).add(steps)
        return frozenset(family for family, steps in read_in.items() if len(steps) > 1)

    def _family(self, parameter: int) -> object:
        shape, lines = self._facts.shape(parameter), self.creation_lines.get(parameter)
        if lines:
            return shape, tuple(lines)
        path = self._facts.path(parameter)
        return (shape, _NUMBER.sub("#", path)) if _NUMBER.search(path) else parameter
