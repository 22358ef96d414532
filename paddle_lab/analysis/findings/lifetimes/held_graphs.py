"""How much memory is alive only because backward graphs have saved it.

``backward()`` without ``retain_graph`` frees the saved tensors but not the grad nodes. So a loss
that is kept afterwards holds only its own four bytes. ``paddle.grad`` runs a copy of the graph and
frees nothing. ``tests/oracles/test_held_graphs.py`` compares these bytes with Paddle's counter.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cached_property

from paddle_lab.analysis.findings.facts import BUFFER, PARAMETER, Facts, walk
from paddle_lab.analysis.findings.lifetimes.steps import Steps
from paddle_lab.analysis.findings.saved.saved_tensors import Storages, saved_tensors

_SAVES_ALL_OUTPUTS = frozenset(("layer_norm", "group_norm", "batch_norm_", "rnn"))
"""Ops whose outputs after the first, such as statistics, are only for their backward."""


class HeldGraphs:
    """The bytes that the graphs of tensors hold, for one record and its training steps."""

    def __init__(self, facts: Facts, steps: Steps) -> None:
        self._facts = facts
        self._steps = steps
        self._storages = facts.answer(Storages)

    def own_bytes(self, tensors: Iterable[int]) -> int:
        """Return the bytes of tensors, without their graphs. Each storage counts once."""
        roots = {self._storages.root(tensor) for tensor in tensors}
        return sum(map(self._size, roots))

    def bytes_behind(self, tensors: Iterable[int], moment: int) -> int:
        """Return the bytes that the graphs of tensors hold and that no living tensor holds.

        Parameters
        ----------
        tensors
            The tensors that keep the graphs alive.
        moment
            How many ops had been called. For the end of the trace: the number of all ops, plus one.
        """
        facts = self._facts
        ops = [facts.producer(tensor) for tensor in tensors if facts.needs_grad(tensor)]
        return self.bytes_saved(self._unfreed_ops(ops, moment), moment)

    def bytes_saved(self, ops: Iterable[int], moment: int) -> int:
        """Return the bytes that ops saved for backward and no living tensor held at a moment."""
        facts, roots, hidden = self._facts, set[int](), 0
        for op in ops:
            if facts.is_pylayer(op):
                continue  # the trace does not know what a PyLayer's context holds
            saved = saved_tensors(facts, op)
            if facts.op_name(op) in _SAVES_ALL_OUTPUTS:
                saved = saved + facts.outputs(op)[1:]
            if facts.op_name(op) == "dropout":  # the mask of dropout, one byte per element
                hidden += sum(math.prod(facts.shape(row)) for row in facts.outputs(op)[:1])
            roots.update(self._storages.root(row) for row in saved)
        return hidden + sum(self._size(root) for root in roots if not self._is_held(root, moment))

    def _unfreed_ops(self, ops: list[int], moment: int) -> Iterator[int]:
        """Yield ``ops`` and earlier ops in their graph that still have saved tensors."""
        facts, leaves = self._facts, self._steps.leaves

        def unfreed(ops: Iterable[int]) -> list[int]:
            # If a grad node has run, so have all grad nodes that follow it in backward.
            return [op for op in ops if op >= 0 and self._freed_at.get(op, moment) >= moment]

        def behind(op: int) -> list[int]:
            # An updated parameter was made by an optimizer's op, which saves nothing for backward.
            return unfreed(
                facts.producer(row)
                for row in facts.inputs(op)
                if facts.needs_grad(row) and facts.first_value(row) not in leaves
            )

        return walk(unfreed(ops), behind)

    @cached_property
    def _freed_at(self) -> dict[int, int]:
        """For each op: how many ops had been called when backward freed the op's saved tensors."""
        facts = self._facts
        retains = facts.record.backward_calls["retain_graph"]
        freed: dict[int, int] = {}
        for call in facts.user_backward_calls:
            for node in [] if retains[call] else facts.nodes_of_call(call):
                freed.setdefault(facts.op_of_node(node), facts.ops_before(call))
        return freed

    def _size(self, root: int) -> int:
        return int(self._facts.record.tensors["bytes"][root])

    def _is_held(self, root: int, moment: int) -> bool:
        facts, alive_until = self._facts, self._steps.alive_until
        if facts.tensor_kind(root) in (PARAMETER, BUFFER):
            return True
        rows = self._storages.members(root)
        if moment > facts.op_count:
            return any(row in facts.living for row in rows)
        return any(alive_until.get(row, -1) >= moment for row in rows)
