"""Where gradients of trainable parameters end on their way back from a loss.

A value is *live* if a gradient could flow through it to a parameter that got no gradient. Starting
from such parameters, the code follows live values forward until it meets a cut: ``detach``, an op
under ``no_grad``, an op without a gradient, a conversion to NumPy. A cut counts only if the values
behind it enter a loss that ``backward`` was called on.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from paddle_lab.analysis.findings.facts import FORWARD, Event, Facts, walk
from paddle_lab.analysis.findings.finding import Place
from paddle_lab.analysis.findings.gradients.reach import (
    ZERO_GRADIENT,
    GradientModes,
    GradientReach,
    is_integer,
)
from paddle_lab.analysis.findings.gradients.round_trips import RoundTrips
from paddle_lab.analysis.findings.gradients.trained import Trained


class Cut(NamedTuple):
    """A place between a parameter and a loss where gradients stop."""

    way: str
    """``"detach"``, ``"data"``, ``"copy"``, ``"stop_gradient"``, ``"detach_"``, ``"no_grad"``,
    ``"no_gradient"``, ``"zero_gradient"``, ``"integer"``, ``"pylayer"``, ``"untracked"``,
    ``"written"``, ``"numpy"`` or ``"number"``."""
    source: int
    """The last tensor before the cut, on the way from the parameter to the loss."""
    op: int
    """The op that made the value, or the op that is the cut; -1 for none."""
    place: Place
    behind: tuple[int, ...]
    """The tensors that hold the values behind the cut."""
    taker: int = -1
    """The op that took the value as a Python number."""
    event: Event | None = None
    """The start of ``no_grad``, or the creation of the tensor from the values read."""


class GradientCuts:
    """The cuts of one trace."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.trained = facts.answer(Trained)
        self.reach = GradientReach(facts)
        self._modes = GradientModes(facts)
        self.rootless = {event.tensor: event for event in facts.events("rootless_backward")}
        """Tensors without a gradient on which backward was called, and the events."""
        stops = reversed(facts.events("gradient_stopped"))
        self._stops = {event.tensor: event for event in stops}

    @cached_property
    def _trips(self) -> RoundTrips:
        return RoundTrips(self._facts)

    @cached_property
    def unreached(self) -> frozenset[int]:
        """Parameters that ops read and that need a gradient, but got none.

        There are three special cases. If ``paddle.grad`` requested only other gradients, a
        parameter counts only if an optimizer that has it made a step. A parameter in the graph of a
        call with ``no_grad_vars`` never counts. If ``paddle.grad`` returned its gradient, a
        parameter counts if its optimizer made steps, but never updated it.
        """
        if not self._facts.user_backward_calls:
            return frozenset()
        trained, reach = self.trained, self.reach
        asked = reach.left_aside | (reach.handed_over - trained.updated)
        return frozenset(
            one
            for one in trained.used
            if (one not in reach.leaves or one in asked)
            and one not in reach.kept_away
            and (one not in asked or (trained.steps and one in trained.holders))
            and trained.wants_gradient(one)
        )

    @cached_property
    def parameters(self) -> dict[Cut, frozenset[int]]:
        """The cuts between a loss and parameters, and the parameters whose gradients end there."""
        if not self.unreached:
            return {}
        behind = {
            cut: self._parameters_behind(cut.source) for cut in filter(self._leads, self._ends())
        }
        # A value that is read under no_grad, such as by a running average, may not lead to the
        # loss.
        on_the_way = [found for cut, found in behind.items() if cut.way != "no_grad"]
        explained = frozenset[int]().union(*on_the_way)
        return {
            cut: found
            for cut, found in behind.items()
            if found and (cut.way != "no_grad" or not found <= explained)
        }

    @cached_property
    def cut_parameters(self) -> frozenset[int]:
        """All parameters whose gradients end at some cut."""
        return frozenset[int]().union(*self.parameters.values())

    # -- forward from the parameters ----------------------------------------------------------

    def _ends(self) -> list[Cut]:
        facts, ends = self._facts, dict[Cut, None]()

        def onward(row: int) -> Iterator[int]:
            """Collect the cuts after a value, and yield the outputs that give it a gradient."""
            ends.update(dict.fromkeys(self._cuts_beside(row)))
            for op in facts.consumers(row):
                if facts.phase(op) != FORWARD:
                    continue
                is_inside = facts.is_in_pylayer(op)
                cut = self._untracked_around(row, op) if is_inside else self._cut_at(row, op)
                if cut is not None:
                    ends[cut] = None
                elif not is_inside:
                    yield from filter(self._carries, facts.outputs(op))

        starts = np.flatnonzero(np.isin(facts.first_values, list(self.unreached))).tolist()
        for _ in walk(filter(facts.consumers, starts), onward):
            pass
        return sorted(ends, key=lambda cut: (max(cut.op, cut.taker), cut.source))

    def _cuts_beside(self, row: int) -> Iterator[Cut]:
        facts, op = self._facts, self._facts.producer(row)
        for copy in facts.copies(row):
            stop = self._stops.get(copy)
            way = "detach" if stop is None else stop.detail
            place = facts.place(op) if stop is None else facts.place_of_stack(stop.stack)
            yield Cut(way, row, op, place, (copy,))
        for trip in self._trips.of_source.get(row, ()):
            way = "numpy" if trip.row >= 0 else "number"
            if trip.read.detail in ("set_value", "copy_"):
                way = "written"
            place = facts.place_of_stack(trip.read.stack)
            behind = (trip.row,) if trip.row >= 0 else ()
            yield Cut(way, row, op, place, behind, trip.op, trip.made)

    def _cut_at(self, row: int, op: int) -> Cut | None:
        facts, stop = self._facts, self._stops.get(row)
        if stop is not None and stop.ops_before <= op:
            place = facts.place_of_stack(stop.stack)
            return Cut(stop.detail, row, facts.producer(row), place, (row,), event=stop)
        outputs = tuple(facts.outputs(op))
        left_out = self.reach.left_out.get(op, {})
        given = [number for number, one in enumerate(facts.inputs(op)) if one == row]
        if left_out and all(number in left_out for number in given):
            way = "pylayer"
        elif facts.op_name(op) in ZERO_GRADIENT:
            way = "zero_gradient"
        elif not outputs or any(map(self._carries, outputs)):
            return None
        elif any(map(facts.needs_grad, outputs)):
            way = "integer"
        elif (off := self._modes.switched_off_by(op)) is None:
            way = "no_gradient"
        elif self._modes.is_of_paddles_layers(off):
            return None
        else:
            return Cut("no_grad", row, op, self._modes.place(op, off), outputs, event=off)
        return Cut(way, row, op, facts.place(op), outputs)

    def _untracked_around(self, row: int, op: int) -> Cut | None:
        """Return the cut at the PyLayer around an op, if no input of it needs a gradient."""
        facts = self._facts
        scopes = facts.scopes_around(int(facts.record.ops["scope"][op]))
        outer = [op for op in map(facts.pylayer_op, scopes) if op >= 0][-1:]
        if not outer or facts.phase(outer[0]) != FORWARD:
            return None
        place = facts.place(outer[0])
        is_tracked = any(map(self._carries, facts.inputs(outer[0])))
        if is_tracked or self._modes.switched_off_by(outer[0]) is not None:
            return None
        rules = facts.events("pylayer_rule")
        if any(facts.place_of_stack(event.stack) == place for event in rules):
            return None  # the PyLayer's inputs are inside containers, which another check reports
        return Cut("untracked", row, outer[0], place, tuple(facts.outputs(outer[0])))

    def _carries(self, tensor: int) -> bool:
        return self._facts.needs_grad(tensor) and not is_integer(self._facts.dtype(tensor))

    # -- back from the losses -----------------------------------------------------------------

    def leads_to_loss(self, tensor: int) -> bool:
        """Tell whether a tensor's values went into a loss that backward was called on."""
        return tensor in self._leading

    def _leads(self, cut: Cut) -> bool:
        taken = self._facts.outputs(cut.taker) if cut.taker >= 0 else []
        is_reached = cut.taker >= 0 and self.reach.ops[cut.taker]
        return bool(is_reached) or not self._leading.isdisjoint((*cut.behind, *taken))

    @cached_property
    def _leading(self) -> set[int]:
        facts, trips = self._facts, self._trips

        def sources(row: int) -> Iterator[int]:
            op = facts.producer(row)
            if op >= 0:
                yield from facts.inputs(op)
                yield from (trip.read.tensor for trip in trips.of_op.get(op, ()))
            elif facts.previous(row) >= 0:
                yield facts.previous(row)
            if facts.detached_from(row) >= 0:
                yield facts.detached_from(row)
            yield from (trip.read.tensor for trip in trips.of_row.get(row, ()))

        read = (row for op in self.reach.ops.nonzero()[0].tolist() for row in facts.inputs(op))
        return set(walk((*self.rootless, *read), sources))

    def _parameters_behind(self, source: int) -> frozenset[int]:
        facts = self._facts

        def sources(row: int) -> Iterator[int]:
            op = facts.producer(row)
            is_made = op >= 0 and facts.phase(op) == FORWARD
            return filter(self._carries, facts.inputs(op) if is_made else ())

        return self.unreached.intersection(map(facts.first_value, walk([source], sources)))
