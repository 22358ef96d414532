"""Training steps of a record, and how long tensors live.

A step ends with a backward call, an optimizer's step or ``paddle_lab.step()``. The ops between two
ends form an interval. ``paddle.grad`` ends no step, because it is often a part of the forward.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.findings.facts import ACTIVATION, FORWARD, Facts, walk
from paddle_lab.trace.schema import PHASES, ROLES

_INPUT = ROLES.index("input")
_FARTHEST = 20_000
"""After this many ops, the results of a tensor are followed no further."""


class Steps:
    """The intervals between the ends of steps, and the last use of each tensor."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    @cached_property
    def ends(self) -> npt.NDArray[np.int64]:
        """For each step, ascending: how many ops had been called when it ended."""
        facts = self._facts
        calls = [call for call in facts.user_backward_calls if not facts.is_paddle_grad(call)]
        ends = map(facts.ops_before, calls)
        times = facts.record.steps["time_ns"]
        marks = np.searchsorted(facts.record.ops["start_ns"], times).tolist() if len(times) else []
        return np.unique(np.asarray([*ends, *facts.step_ends, *marks], np.int64))

    @cached_property
    def are_of_one_thread(self) -> bool:
        """Tell whether one thread made all tensors that need a gradient.

        Steps of several threads overlap. So a tensor of one thread outlives the steps of another.
        """
        record = self._facts.record
        made = self.made_in_forward
        made = made[record.tensors["stop_gradient"][made] == 0]
        threads = record.ops["thread"][record.tensors["producer"][made]]
        return bool((threads == threads[:1]).all())

    def interval(self, op: int) -> int:
        """Return how many steps ended before an op."""
        return bisect_right(self.ends, op)

    def intervals(self, ops: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Return how many steps ended before each op."""
        return np.searchsorted(self.ends, ops, side="right")

    @cached_property
    def last_use(self) -> npt.NDArray[np.int64]:
        """The last op that read each tensor, -1 if none did; shape ``[tensors]``.

        If Python read the tensor later, this is how many ops had been called by then.
        """
        last = self._last_op(range(len(PHASES)))
        for event in self._facts.events("read"):
            if event.tensor >= 0:
                last[event.tensor] = max(last[event.tensor], event.ops_before)
        return last

    @cached_property
    def last_forward_op(self) -> npt.NDArray[np.int64]:
        """The last forward op that read each tensor, -1 if none did; shape ``[tensors]``."""
        return self._last_op([FORWARD])

    def _last_op(self, phases: Sequence[int]) -> npt.NDArray[np.int64]:
        record = self._facts.record
        last = np.full(len(record.tensors), -1, np.int64)
        uses = record.uses
        is_read = (uses["role"] == _INPUT) & (uses["tensor"] >= 0)
        is_read &= np.isin(record.ops["phase"], phases)[uses["op"]]
        # ``ufunc.at`` takes 100 times as long if it has to convert the values.
        np.maximum.at(last, uses["tensor"][is_read], uses["op"][is_read].astype(np.int64))
        return last

    @cached_property
    def made_in_forward(self) -> npt.NDArray[np.int64]:
        """The activations that forward ops made, as rows in ``tensors``."""
        record = self._facts.record
        tensors, phases = record.tensors, record.ops["phase"]
        is_made = (tensors["kind"] == ACTIVATION) & (tensors["producer"] >= 0)
        is_made[is_made] = phases[tensors["producer"][is_made]] == FORWARD
        return np.flatnonzero(is_made).astype(np.int64)

    @cached_property
    def leaves(self) -> frozenset[int]:
        """Tensors into which gradients are accumulated, as their first values."""
        return self._facts.leaves_of_nodes(self._facts.record.grad_nodes["parameter"] >= 0)

    def is_inside_graph(self, tensor: int) -> bool:
        """Tell whether a tensor needs a gradient and is not a leaf of the graph."""
        facts = self._facts
        return (
            facts.needs_grad(tensor)
            and facts.first_value(tensor) not in self.leaves
            and any(facts.needs_grad(source) for source in facts.inputs(facts.producer(tensor)))
        )

    def stack(self, tensor: int) -> int:
        """Return the stack of the op that made a tensor."""
        return self._facts.stack(self._facts.producer(tensor))

    @cached_property
    def alive_until(self) -> dict[int, int]:
        """For each tensor: how many ops had been called when the tensor was last seen alive."""
        record = self._facts.record
        lives = record.tensor_lives
        pairs = zip(lives["tensor"].tolist(), lives["ops_before"].tolist(), strict=True)
        seen = dict(pairs)
        seen.update(dict.fromkeys(self._facts.living, self._facts.op_count))
        return seen

    def end_of(self, tensor: int) -> int:
        """Return how many ops had been called when a tensor was last read or seen alive.

        For a tensor that was alive when the trace ended, return the number of all ops plus one.
        """
        if tensor in self._facts.living:
            return self._facts.op_count + 1
        return max(int(self.last_use[tensor]), self.alive_until.get(tensor, -1))

    def alive_together(self, made: dict[int, int]) -> list[int]:
        """Return the largest group of tensors that were seen alive at the same moment.

        Parameters
        ----------
        made
            Maps each tensor to the op that made it.
        """
        lives = {one: self.alive_until[one] for one in made if one in self.alive_until}
        moments = set(lives.values())
        together = (
            [one for one, until in lives.items() if made[one] < moment <= until]
            for moment in moments
        )
        return max(together, key=len, default=[])

    def leads_to(self, tensor: int, stack: int, *, start: int) -> bool:
        """Tell whether an op called from a stack uses a tensor, directly or through other ops.

        Parameters
        ----------
        start
            The first op that counts. Earlier ops may belong to the step that made the tensor.
        """
        facts = self._facts

        def readers(tensor: int) -> list[int]:
            return [op for op in facts.consumers(tensor) if facts.phase(op) == FORWARD]

        def onward(op: int) -> Iterator[int]:
            return (reader for made in facts.outputs(op) for reader in readers(made))

        ops = islice(walk(readers(tensor), onward), _FARTHEST)
        return any(op >= start and facts.stack(op) == stack for op in ops)
