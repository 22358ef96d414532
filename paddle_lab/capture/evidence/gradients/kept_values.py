"""The gradients of one named region themselves, where somebody asks for them."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.recorder.dtypes import describe
from paddle_lab.capture.recorder.recorder import REGION, Recorder
from paddle_lab.capture.rows.cells import SCOPE_CELLS, TENSOR_CELLS, OpCell
from paddle_lab.capture.rows.tape import rows_of
from paddle_lab.capture.tables.op_columns import OpRows
from paddle_lab.words import say

MOST_BYTES = 1 << 30
"""A backward call whose region's gradients take more is not kept; a smaller region is the way."""


class GradientValues:
    """Copies of the gradients that the ops of one region hand on.

    Parameters
    ----------
    recorder
        Whose ops are in regions.
    region
        The region's name, as in ``paddle_lab.region(name)``.
    """

    def __init__(self, recorder: Recorder, region: str) -> None:
        self._recorder = recorder
        self._region = region
        self._wanted: set[int] = set()

    def choose(self, nodes: Iterable[int], edges_of: dict[int, list[tuple[int, int]]]) -> None:
        """Choose the grad nodes of the region among those of a backward call; say what they take.

        Parameters
        ----------
        nodes
            Grad nodes that the call reached.
        edges_of
            By grad node: slot and edge of what it hands on.
        """
        op_of = self._recorder.backward.grad_nodes.ops()
        inside = self._ops_inside()
        chosen = {node for node in nodes if op_of.get(node, -1) in inside}
        edges = [edge for node in chosen for _, edge in edges_of.get(node, ())]
        size_bytes = self._size_bytes(edges)
        told = {"n": len(edges), "region": repr(self._region), "size": size_bytes}
        if size_bytes > MOST_BYTES:
            self._recorder.notices.append(
                say("notices.gradients.too_large", most=MOST_BYTES, **told)
            )
            chosen = set()
        elif edges:
            sys.stderr.write(say("notices.gradients.kept", **told) + "\n")
        self._wanted |= chosen

    def copy(self, node: int, gradient: Any) -> npt.NDArray[Any] | None:
        """Return a copy, if its node was chosen; ``gradient`` has been looked at before."""
        if node not in self._wanted:
            return None
        # Call Paddle's own method: a hook around it would record this as a read by the user's code.
        return np.array(inspect.unwrap(type(gradient).numpy)(gradient))

    def _ops_inside(self) -> set[int]:
        inside: set[int] = set()
        region = self._recorder.scope_names.get(self._region)
        for scope, kind, name, parent, *_ in sorted(rows_of(self._recorder.scopes, SCOPE_CELLS)):
            if parent in inside or (kind == REGION and name == region):
                inside.add(scope)
        ops = OpRows(self._recorder.ops)
        keys: list[int] = ops.keys[np.isin(ops.column(OpCell.SCOPE), list(inside))].tolist()
        return set(keys)

    def _size_bytes(self, edges: list[int]) -> int:
        backward = self._recorder.backward
        pool = self._recorder.tensors
        shapes, dtypes = list(pool.shapes), list(pool.dtypes)
        tensors = {
            key: (shapes[shape], dtypes[dtype])
            for key, shape, dtype, *_ in rows_of(pool.rows, TENSOR_CELLS)
        }
        op_of = backward.grad_nodes.ops()
        ops = OpRows(self._recorder.ops)
        op, slot, tensors_made = ops.outputs
        is_first = slot == 0
        made = dict(
            zip(ops.keys[op[is_first]].tolist(), tensors_made[is_first].tolist(), strict=True)
        )
        total = 0
        for edge in edges:
            source, target, _, tensor = backward.grad_nodes.edge(edge)
            carried = tensor if tensor >= 0 else backward.leaf_tensors.get(target, -1)
            if carried < 0:  # between two nodes of one op: what it made is of that shape, mostly
                carried = made.get(op_of[source], -1)
            shape, dtype = tensors.get(carried, ((), None))
            total += math.prod(shape) * describe(dtype)[1]
        return total
