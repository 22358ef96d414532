"""Where gradients of trainable parameters end on their way back from a loss.

A value is *live* where a gradient could go back through it to a parameter that none has reached.
Followed forward from such parameters, live values end at cuts: ``detach``, an op under ``no_grad``,
an op without a gradient, a way through NumPy. A cut counts where what lies behind it goes on into a
loss that ``backward`` was called on.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from paddle_lab.analysis.findings.facts import FORWARD, Facts
from paddle_lab.analysis.findings.gradients.modes import GradientModes
from paddle_lab.analysis.findings.gradients.reach import ZERO_GRADIENT, GradientReach, is_integer
from paddle_lab.analysis.findings.gradients.round_trips import RoundTrips
from paddle_lab.analysis.findings.gradients.trained import Trained
from paddle_lab.analysis.findings.place import Place
from paddle_lab.analysis.graph.trees import nearest_marked
from paddle_lab.trace.schema import SCOPE_KINDS

_PYLAYER = SCOPE_KINDS.index("pylayer")


class Cut(NamedTuple):
    """One place at which live values end."""

    way: str
    """``"detach"``, ``"data"``, ``"copy"``, ``"stop_gradient"``, ``"detach_"``, ``"no_grad"``,
    ``"no_gradient"``, ``"zero_gradient"``, ``"integer"``, ``"pylayer"``, ``"untracked"``,
    ``"written"``, ``"numpy"`` or ``"number"``."""
    source: int
    """The last live tensor."""
    op: int
    """The op that made it or, where an op is the cut, that op; -1 for none."""
    place: Place
    behind: tuple[int, ...]
    """The tensors that hold the values behind the cut."""
    taker: int = -1
    """The op that took a number."""
    event: int = -1
    """Row of ``events``: the ``no_grad``, or the tensor made of what was read."""


class GradientCuts:
    """The cuts of one trace; :meth:`of` makes it once.

    Parameters
    ----------
    facts
        The record that is asked.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.trained = Trained(facts)
        self.reach = GradientReach(facts)
        self.modes = GradientModes(facts)
        self._trips = RoundTrips(facts)

    @classmethod
    def of(cls, facts: Facts) -> GradientCuts:
        """Return the cuts of a record, found but once."""
        cuts = facts.derived.get(cls)
        if not isinstance(cuts, cls):
            cuts = facts.derived[cls] = cls(facts)
        return cuts

    @cached_property
    def unreached(self) -> frozenset[int]:
        """Parameters that ops read, that want a gradient and that none reached.

        Where ``paddle.grad`` was asked only for other gradients, a parameter counts only if an
        optimizer that holds it steps. A parameter in ``no_grad_vars`` never counts. One whose own
        gradient was asked for counts if such an optimizer never got the gradient.
        """
        if not self._facts.user_backward_calls:
            return frozenset()
        trained, reach = self.trained, self.reach
        asked = reach.left_aside | (reach.handed_over - trained.updated)
        return frozenset(
            one
            for one in trained.used
            if (one not in reach.leaves or one in asked)
            and one not in reach.stopped
            and (one not in asked or (trained.steps and one in trained.holders))
            and trained.wants_gradient(one)
        )

    @cached_property
    def found(self) -> list[Cut]:
        """The cuts behind which a loss lies, in order."""
        if not self.unreached:
            return []
        leading = [cut for cut in self._ends if self._leads_to_loss(cut)]
        # A value that a running average reads under no_grad is not on the way to the loss.
        on_the_way = [
            self._parameters_behind(cut.source) for cut in leading if cut.way != "no_grad"
        ]
        explained = frozenset[int]().union(*on_the_way)
        return [
            cut
            for cut in leading
            if cut.way != "no_grad" or not self._parameters_behind(cut.source) <= explained
        ]

    @cached_property
    def parameters(self) -> dict[Cut, frozenset[int]]:
        """The parameters whose gradients end at each cut."""
        return {cut: self._parameters_behind(cut.source) for cut in self.found}

    @cached_property
    def cut_parameters(self) -> frozenset[int]:
        """All parameters whose gradients end at some cut."""
        return frozenset(one for parameters in self.parameters.values() for one in parameters)

    def is_in_pylayer(self, op: int) -> bool:
        """Tell whether an op runs inside a PyLayer, which is differentiated as a whole."""
        return bool(self._pylayer_ops[op])

    @cached_property
    def rootless(self) -> dict[int, int]:
        """Tensors without a gradient that a backward call began at, and the events."""
        events = self._facts.record.events
        return {int(events["tensor"][row]): row for row in self._facts.events("rootless_backward")}

    def leads_to_loss(self, tensor: int) -> bool:
        """Tell whether a tensor's values went into a loss that backward was called on."""
        return tensor in self._leading

    def copies(self, tensor: int) -> list[int]:
        """Return the tensors that hold a tensor's values without its graph."""
        return self._copies.get(tensor, [])

    # -- forward from the parameters ----------------------------------------------------------

    @cached_property
    def _ends(self) -> list[Cut]:
        facts = self._facts
        pending = [
            row
            for row in range(len(facts.record.tensors))
            if facts.first_value(row) in self.unreached and facts.consumers(row)
        ]
        live = set(pending)
        ends: dict[Cut, None] = {}
        while pending:
            row = pending.pop()
            for cut in self._cuts_beside(row):
                ends[cut] = None
            for op in facts.consumers(row):
                if facts.phase(op) != FORWARD:
                    continue
                if self.is_in_pylayer(op):
                    if (around := self._untracked_around(row, op)) is not None:
                        ends[around] = None
                    continue
                cut_at = self._cut_at(row, op)
                if cut_at is not None:
                    ends[cut_at] = None
                    continue
                fresh = [out for out in facts.outputs(op) if out not in live]
                fresh = [out for out in fresh if self._carries(out)]
                live.update(fresh)
                pending.extend(fresh)
        return sorted(ends, key=lambda cut: (max(cut.op, cut.taker), cut.source))

    def _cuts_beside(self, row: int) -> Iterator[Cut]:
        facts = self._facts
        op = facts.producer(row)
        for copy in self._copies.get(row, ()):
            event = self._stops.get(copy, -1)
            way = self._detail(event) if event >= 0 else "detach"
            place = self._place(event) if event >= 0 else facts.place(op)
            yield Cut(way, row, op, place, (copy,))
        for trip in self._trips.of_source.get(row, ()):
            behind = (trip.row,) if trip.row >= 0 else ()
            way = "numpy" if behind else "number"
            if self._detail(trip.read) in ("set_value", "copy_"):
                way = "written"
            yield Cut(way, row, op, self._place(trip.read), behind, trip.op, trip.event)

    def _cut_at(self, row: int, op: int) -> Cut | None:
        facts = self._facts
        stop = self._stops.get(row, -1)
        if stop >= 0 and facts.record.events["ops_before"][stop] <= op:
            place = self._place(stop)
            return Cut(self._detail(stop), row, facts.producer(row), place, (row,), event=stop)
        outputs = tuple(facts.outputs(op))
        left_out = self.reach.left_out.get(op, {})
        given = [number for number, one in enumerate(facts.inputs(op)) if one == row]
        if left_out and all(number in left_out for number in given):
            return Cut("pylayer", row, op, facts.place(op), outputs, event=left_out[given[0]])
        if facts.op_name(op) in ZERO_GRADIENT:
            return Cut("zero_gradient", row, op, facts.place(op), outputs)
        if not outputs or any(self._carries(out) for out in outputs):
            return None
        if any(facts.needs_grad(out) for out in outputs):
            return Cut("integer", row, op, facts.place(op), outputs)
        off = self.modes.switched_off_by(op)
        if off >= 0 and self.modes.is_of_paddles_layers(off):
            return None
        if off >= 0:
            return Cut("no_grad", row, op, self.modes.place(op, off), outputs, event=off)
        return Cut("no_gradient", row, op, facts.place(op), outputs)

    def _untracked_around(self, row: int, op: int) -> Cut | None:
        """Return the cut at the PyLayer around an op, where no input of it takes a gradient."""
        scopes, scope = self._facts.record.scopes, int(self._facts.record.ops["scope"][op])
        outer = -1
        while scope >= 0:
            if scopes["kind"][scope] == _PYLAYER and scopes["op"][scope] >= 0:
                outer = int(scopes["op"][scope])
            scope = int(scopes["parent"][scope])
        if outer < 0 or self._facts.phase(outer) != FORWARD:
            return None
        if any(map(self._carries, self._facts.inputs(outer))):
            return None
        if self.modes.switched_off_by(outer) >= 0:
            return None
        place = self._facts.place(outer)
        if any(self._place(event) == place for event in self._facts.events("pylayer_rule")):
            return None  # its inputs are hidden, of which there is a finding
        return Cut("untracked", row, outer, place, tuple(self._facts.outputs(outer)))

    def _carries(self, tensor: int) -> bool:
        return self._facts.needs_grad(tensor) and not is_integer(self._facts.dtype(tensor))

    # -- back from the losses -----------------------------------------------------------------

    def _leads_to_loss(self, cut: Cut) -> bool:
        if any(row in self._leading for row in cut.behind):
            return True
        if cut.taker < 0:
            return False
        outputs = self._facts.outputs(cut.taker)
        return bool(self.reach.ops[cut.taker]) or any(row in self._leading for row in outputs)

    @cached_property
    def _leading(self) -> set[int]:
        """The tensors whose values went into a loss that backward was called on."""
        facts = self._facts
        detached = facts.record.tensors["detached_from"]
        previous = facts.record.tensors["previous"]
        pending = list(self.rootless)
        for op in self.reach.ops.nonzero()[0].tolist():
            pending.extend(facts.inputs(op))
        leading: set[int] = set()
        while pending:
            row = pending.pop()
            if row in leading:
                continue
            leading.add(row)
            op = facts.producer(row)
            if op >= 0:
                pending.extend(facts.inputs(op))
                pending.extend(trip.source for trip in self._trips.of_op.get(op, ()))
            elif previous[row] >= 0:
                pending.append(int(previous[row]))
            if detached[row] >= 0:
                pending.append(int(detached[row]))
            pending.extend(trip.source for trip in self._trips.of_row.get(row, ()))
        return leading

    def _parameters_behind(self, source: int) -> frozenset[int]:
        facts = self._facts
        found, seen, pending = set(), set(), [source]
        while pending:
            row = pending.pop()
            if row in seen:
                continue
            seen.add(row)
            first = facts.first_value(row)
            if first in self.unreached:
                found.add(first)
            op = facts.producer(row)
            if op >= 0 and facts.phase(op) == FORWARD:
                pending.extend(one for one in facts.inputs(op) if self._carries(one))
        return frozenset(found)

    # -- events ---------------------------------------------------------------------------------

    @cached_property
    def _copies(self) -> dict[int, list[int]]:
        copies: dict[int, list[int]] = {}
        for row, source in enumerate(self._facts.record.tensors["detached_from"].tolist()):
            if source >= 0:
                copies.setdefault(source, []).append(row)
        return copies

    @cached_property
    def _stops(self) -> dict[int, int]:
        tensors = self._facts.record.events["tensor"]
        return {int(tensors[row]): row for row in reversed(self._facts.events("gradient_stopped"))}

    @cached_property
    def _pylayer_ops(self) -> list[bool]:
        scopes, of_op = self._facts.record.scopes, self._facts.record.ops["scope"]
        is_inside = nearest_marked(scopes["parent"], scopes["kind"] == _PYLAYER) >= 0
        found = np.append(is_inside, False)[of_op]
        found[scopes["op"][scopes["op"] >= 0]] = False
        told: list[bool] = found.tolist()
        return told

    def _detail(self, event: int) -> str:
        return self._facts.record.text(int(self._facts.record.events["detail"][event]))

    def _place(self, event: int) -> Place:
        return self._facts.place_of_stack(int(self._facts.record.events["stack"][event]))
