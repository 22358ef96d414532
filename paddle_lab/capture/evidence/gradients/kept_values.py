"""Copies of the gradients in a region: ``trace.gradients[…].value``."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.recorder.recorder import REGION, Recorder
from paddle_lab.capture.rows.cells import SCOPE_CELLS, OpCell
from paddle_lab.capture.rows.tape import rows_of
from paddle_lab.capture.tables.op_columns import OpRows
from paddle_lab.words import say

Kept = list[npt.NDArray[Any]]
"""A list with one gradient, or an empty list."""
MOST_BYTES = 1 << 30
"""If a backward call passes more bytes of gradients than this in the region, none are kept."""


class GradientValues:
    """Copies of the gradients that the ops of a region pass on.

    Parameters
    ----------
    recorder
        The recorder that has the ops and regions.
    region
        The region's name, as in ``paddle_lab.region(name)``.
    """

    def __init__(self, recorder: Recorder, region: str) -> None:
        self._recorder = recorder
        self._region = region
        self._wanted: set[int] = set()
        self._kept: list[Kept] = []
        """The gradients that the current backward call has passed so far."""
        self._bytes = 0

    def choose(self, nodes: Iterable[int]) -> None:
        """Choose the grad nodes of the region, among the nodes of a new backward call."""
        op_of = self._recorder.backward.grad_nodes.ops()
        inside = self._ops_inside()
        self._wanted.update(node for node in nodes if op_of.get(node, -1) in inside)
        self._kept, self._bytes = [], 0

    def copy(self, node: int, gradient: Any) -> Kept:
        """Return a list with a copy of the gradient; an empty list if the node was not chosen.

        If the copies of a call become too large, their lists are emptied. ``gradient`` must have
        values.
        """
        if node not in self._wanted or self._bytes > MOST_BYTES:
            return []
        # Call Paddle's original method. The hook around it would record a read by the user.
        kept = [np.array(inspect.unwrap(type(gradient).numpy)(gradient))]
        self._kept.append(kept)
        self._bytes += kept[0].nbytes
        if self._bytes > MOST_BYTES:
            for one in self._kept:
                one.clear()
            self._kept = []
            self._recorder.notices.append(
                say("notices.gradients.too_large", region=repr(self._region), most=MOST_BYTES)
            )
        return kept

    def kept_notice(self, sizes_bytes: list[int]) -> str:
        """Return the notice about the kept gradients and their sizes."""
        return say(
            "notices.gradients.kept",
            n=len(sizes_bytes),
            region=repr(self._region),
            size=sum(sizes_bytes),
        )

    def _ops_inside(self) -> set[int]:
        inside: set[int] = set()
        region = self._recorder.scope_names.get(self._region)
        for scope, kind, name, parent, *_ in sorted(rows_of(self._recorder.scopes, SCOPE_CELLS)):
            if parent in inside or (kind == REGION and name == region):
                inside.add(scope)
        ops = OpRows(self._recorder.ops)
        keys: list[int] = ops.keys[np.isin(ops.column(OpCell.SCOPE), list(inside))].tolist()
        return set(keys)
