"""Computes how much the outputs of two ops differ."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paddle_lab.comparison.side import Side
from paddle_lab.trace.floats import from_bits
from paddle_lab.trace.table import Table

_MEASURES = ("smallest", "largest", "mean")


class Errors(NamedTuple):
    """The largest errors among the outputs of an op; NaN and -1 where they are not known."""

    max_abs: float = math.nan
    max_rel: float = math.nan
    """``max_abs`` divided by the largest magnitude in trace a."""
    cosine: float = math.nan
    ulp: int = -1
    least: float = math.inf
    """A lower bound of ``max_rel`` from statistics; infinite if nothing is known."""

    def exceed(self, tolerance: float) -> bool:
        """Tell whether the outputs differ by more than a tolerance, as far as is known."""
        if not tolerance:
            return True
        return not (self.least if math.isnan(self.max_rel) else self.max_rel) <= tolerance


def errors_of(a: Side, b: Side, op_a: int, op_b: int) -> Errors:
    """Return the errors of an op, from its values if both traces kept them, else its statistics."""
    pairs = [*zip(a.tensors_of(op_a, "output"), b.tensors_of(op_b, "output"), strict=False)]
    kept = [
        (a.record.kept_values[one], b.record.kept_values[two])
        for one, two in pairs
        if one in a.record.kept_values and two in b.record.kept_values
    ]
    if pairs and len(kept) == len(pairs):
        return worst([errors_between(*arrays) for arrays in kept])
    stats = a.record.value_stats, b.record.value_stats
    rows = [(a.stat_of_tensor.get(one, -1), b.stat_of_tensor.get(two, -1)) for one, two in pairs]
    least = [least_error(stats[0], one, stats[1], two) for one, two in rows]
    return Errors(least=max(least, default=math.inf))


def worst(errors: list[Errors]) -> Errors:
    """Return the largest of each error."""
    columns = [*zip(*errors, strict=True)]
    return Errors(
        float(np.max(columns[0])), float(np.max(columns[1])), float(np.min(columns[2])),
        max(columns[3]), max(columns[4]),
    )  # fmt: skip


def errors_between(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> Errors:
    """Return the errors of array ``b`` against array ``a`` of the same shape."""
    if a.shape != b.shape:
        return Errors()
    kind = np.complex128 if "c" in (a.dtype.kind, b.dtype.kind) else np.float64
    x, y = a.astype(kind).ravel(), b.astype(kind).ravel()
    with np.errstate(all="ignore"):
        is_same = (x == y) | (np.isnan(x) & np.isnan(y))
        differences = np.where(is_same, 0, np.abs(y - x))
        max_abs = float(differences.max(initial=0))
        scale = float(np.abs(x[np.isfinite(x)]).max(initial=0))
        max_rel = 0.0 if max_abs == 0 else max_abs / scale if scale else math.inf
        norms = float(np.linalg.norm(x) * np.linalg.norm(y))
        cosine = float(np.real((x.conj() * y).sum())) / norms if norms else math.nan
    return Errors(max_abs, max_rel, cosine, _ulp(a, b), max_rel)


def _ulp(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> int:
    """Return the largest distance in units in the last place; -1 if it is not known."""
    if a.dtype != b.dtype or a.dtype.kind != "f" or not (np.isfinite(a) & np.isfinite(b)).all():
        return -1
    whole = np.dtype(f"i{a.dtype.itemsize}")
    least = np.iinfo(whole).min
    ordered = []
    for values in (a, b):
        bits = np.ascontiguousarray(values).view(whole)
        ordered.append(np.where(bits < 0, least - bits, bits).astype(np.float64))
    return int(min(np.abs(ordered[0] - ordered[1]).max(initial=0), 2.0**53))


def least_error(table_a: Table, one: int, table_b: Table, two: int) -> float:
    """Return a lower bound of a relative error: that of two rows of statistics."""
    stats = [(table_a, one), (table_b, two)]
    if min(one, two) < 0:
        return math.inf
    values = [
        {name: float(from_bits(table[name][row : row + 1])[0]) for name in _MEASURES}
        for table, row in stats
    ]
    counts = [[int(table[name][row]) for name in ("nans", "infs")] for table, row in stats]
    if counts[0] != counts[1]:
        return math.inf
    scale = max(abs(values[0]["smallest"]), abs(values[0]["largest"]))
    most = max(abs(values[0][name] - values[1][name]) for name in _MEASURES)
    return most / scale if scale else (math.inf if most else 0.0)
