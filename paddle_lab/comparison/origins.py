"""Finds which ops made a difference, and which only passed on a difference of their inputs.

Each op of trace b runs again in float64 on the inputs that it had. The op made the distance from
this result to its own output. The distance from trace a's output to this result came from the
inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.comparison.compared import DIFFERENT, INHERITED, INTRODUCED, Compared

Array = npt.NDArray[Any]
Run = Callable[[int, "Sequence[Array | None]"], "list[Array] | None"]
"""Runs an op of trace b on inputs, ``None`` for those not kept; ``None`` if it cannot run."""


def find_origins(found: Compared, run: Run) -> int:
    """Set the origin of each difference, as far as both traces kept values.

    An op of another name, or with other attributes, introduces a difference itself.

    Returns
    -------
    int
        The row of the op that introduces most, relative to the norm of its output in trace a; -1
        if no op could run again.
    """
    largest, most = -1, 0.0
    a, b = found.a, found.b
    for row in np.flatnonzero(found.state == DIFFERENT).tolist():
        op_a, op_b = int(found.op_a[row]), int(found.op_b[row])
        if a.name[op_a] != b.name[op_b] or a.attributes[op_a] != b.attributes[op_b]:
            found.origin[row] = INTRODUCED
            continue
        kept = b.record.kept_values
        reads = a.tensors_of(op_a, "input"), b.tensors_of(op_b, "input")
        exact = run(op_b, [kept.get(one) if b.is_fixed[one] else None for one in reads[1]])
        outputs = [
            (a.record.kept_values[one], z, kept[two])
            for one, z, two in zip(
                a.tensors_of(op_a, "output"), exact or (), b.tensors_of(op_b, "output"),
                strict=False,
            )
            if one in a.record.kept_values and two in kept and kept[two].shape == z.shape
        ]  # fmt: skip
        if not outputs:
            continue
        made = max(_distance(z, y, x) for x, z, y in outputs)
        came = max(_distance(x, z, x) for x, z, _ in outputs)
        if _are_equal(found, *reads):  # also if the op does not calculate in float64
            made, came = max(_distance(x, y, x) for x, _, y in outputs), 0.0
        found.origin[row] = INTRODUCED if made >= came else INHERITED
        if made > most:
            largest, most = row, made
    return largest


def _are_equal(found: Compared, inputs_a: list[int], inputs_b: list[int]) -> bool:
    sides = (found.a, inputs_a), (found.b, inputs_b)
    digests = [
        [(side.tensor_digests[0][one], side.tensor_digests[1][one]) for one in inputs]
        for side, inputs in sides
    ]
    return digests[0] == digests[1] and all(side.is_fixed[inputs].all() for side, inputs in sides)


def _distance(one: Array, other: Array, unit: Array) -> float:
    """Return the norm of a difference, relative to the norm of a third array."""
    if one.shape != other.shape:
        return 0.0
    kind = np.complex128 if "c" in one.dtype.kind + other.dtype.kind else np.float64
    x, y = one.astype(kind).ravel(), other.astype(kind).ravel()
    with np.errstate(all="ignore"):
        norm = np.linalg.norm(unit.astype(kind).ravel()) or 1.0
        is_same = (x == y) | (np.isnan(x) & np.isnan(y))
        distance = np.linalg.norm(np.where(is_same, 0, y - x)) / norm
    return float(np.nan_to_num(distance, nan=np.inf))
