"""The state of each op of two traces: what is equal, what differs, and by how much."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.cost.call import argument_texts
from paddle_lab.comparison.align import matches, occurrences
from paddle_lab.comparison.errors import Errors, errors_of
from paddle_lab.comparison.gradients import ComparedGradients, compared_gradients
from paddle_lab.comparison.side import Side
from paddle_lab.trace.distinct import distinct, mixed
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import COMPARE_ORIGINS, COMPARE_STATES, PHASES
from paddle_lab.trace.table import StringPool
from paddle_lab.words import say

EQUAL, DIFFERENT, ONLY_A, ONLY_B, UNKNOWN = range(len(COMPARE_STATES))
INTRODUCED, INHERITED = (COMPARE_ORIGINS.index(name) for name in ("introduced", "inherited"))
_BACKWARD = PHASES.index("backward")

_FEW, _MOST = 0.2, 0.8
"""Shares of the ops of a trace that match: see :attr:`Compared.is_of_two_models`."""

Keys = npt.NDArray[np.int64]


@dataclass
class Compared:
    """The ops of both traces, in trace b's order. An op only in a follows the match before it."""

    a: Side
    b: Side
    op_a: Keys
    """The op of trace a in each row, -1 for none."""
    op_b: Keys
    state: npt.NDArray[np.uint8]
    origin: npt.NDArray[np.uint8]
    reason: list[str]
    errors: dict[int, Errors] = field(default_factory=dict)
    """The errors of rows for which they are known."""
    gradients: ComparedGradients | None = None
    """``None`` without digests of the same kind."""
    is_rerun: bool = False
    """Whether trace a ran after trace b, so that b's attributes "were" and a's are "now"."""
    largest: int = -1
    """The row of the op that introduced most, -1 if ops did not run again."""
    moved: dict[int, int] = field(default_factory=dict)
    """The other row of each op that ran in both traces, but in another order."""

    @property
    def matched(self) -> int:
        """How many ops of trace a have a matching op in trace b."""
        return int(((self.op_a >= 0) & (self.op_b >= 0)).sum())

    @property
    def is_of_two_models(self) -> bool:
        """Whether few ops match, but not because one trace is only a part of the other."""
        least, most = sorted((len(self.a), len(self.b)))
        return self.matched <= _FEW * most and self.matched < _MOST * least

    def first(self) -> int:
        """Return the row of the first difference, -1 if there is none."""
        rows = np.flatnonzero((self.state != EQUAL) & (self.state != UNKNOWN) & ~self._is_dropped())
        return int(rows[0]) if len(rows) else -1

    def _is_dropped(self) -> npt.NDArray[np.bool_]:
        """Tell of each row whether one trace may lack the op only because of its limit."""
        found = np.zeros(len(self.state), bool)
        for side, ops in ((self.a, self.op_a), (self.b, self.op_b)):
            rows = np.flatnonzero(ops >= 0)
            kept = side.record.origin.kept
            if kept == "newest":
                found[: rows[0]] = True
            elif kept == "first":
                found[rows[-1] + 1 :] = True
            elif kept:
                found |= ops < 0
        return found

    def first_gradient(self) -> int:
        """Return the first gradient that differs, -1 if an op differs before it.

        An op that a backward call ran comes before its gradients, unless its inputs differ.
        """
        if self.gradients is None or (at := self.gradients.first()) < 0:
            return -1
        record, row = self.b.record, self.first()
        before = self.op_b[:row].max(initial=-1) + 1 if row >= 0 else len(self.b)
        one, two = (int(self.op_a[row]), int(self.op_b[row])) if row >= 0 else (-1, -1)
        side, op = (self.b, two) if two >= 0 else (self.a, one)
        if row >= 0 and side.ops["phase"][op] == _BACKWARD:
            inputs = (self.a.digests("input")[0][one], self.b.digests("input")[0][two])
            if min(one, two) < 0 or inputs[0] == inputs[1]:
                return -1
        call = record.grad_stats["backward_call"][self.gradients.b[at]]
        return at if before >= record.backward_calls["ops_before"][call] else -1

    def rows_of(self, side: str) -> Keys:
        """Return the row of each op of trace a or b."""
        of_row, ops = (self.op_a, self.a) if side == "a" else (self.op_b, self.b)
        rows = np.full(len(ops), -1, np.int64)
        there = np.flatnonzero(of_row >= 0)
        rows[of_row[there]] = there
        return rows


def compared(
    record_a: Record, record_b: Record, tolerance: float = 0.0, *, is_rerun: bool = False
) -> Compared:
    """Compare two records with answer tables."""
    pool = StringPool()
    a, b = Side(record_a, pool), Side(record_b, pool)
    op_a, op_b = _rows(a, b)
    count = len(op_a)
    state = np.where(op_a < 0, ONLY_B, np.where(op_b < 0, ONLY_A, UNKNOWN)).astype(np.uint8)
    found = Compared(a, b, op_a, op_b, state, np.zeros(count, np.uint8), [""] * count)
    found.is_rerun = is_rerun
    _compare_pairs(found, tolerance)
    _mark_moved(found)
    if a.decimals is not None and a.decimals == b.decimals:
        rows = found.rows_of("a"), found.rows_of("b")
        found.gradients = compared_gradients(a, b, *rows, tolerance)
    return found


def _rows(a: Side, b: Side) -> tuple[Keys, Keys]:
    """Return the op of a and of b in each row."""
    matched_a, matched_b = matches(a, b)
    of_b = np.full(len(b), -1, np.int64)
    of_b[matched_b] = matched_a
    only_a = np.ones(len(a), bool)
    only_a[matched_a] = False
    lone = np.flatnonzero(only_a)
    # An op that is only in a comes right after the matched op before it.
    before = np.full(len(a), -1, np.int64)
    before[matched_a] = matched_b
    before = np.maximum.accumulate(before)
    op_a = np.concatenate((lone, of_b))
    op_b = np.concatenate((np.full(len(lone), -1), np.arange(len(b))))
    place = np.concatenate((before[lone], np.arange(len(b))))
    order = np.lexsort((op_b < 0, place))
    return op_a[order], op_b[order]


def _mark_moved(found: Compared) -> None:
    """Note the ops that ran in both traces, but in another order."""
    rows_a, rows_b = (np.flatnonzero(found.state == state) for state in (ONLY_A, ONLY_B))
    keys = [
        mixed(side.name, side.scope(is_strict=True), side.text)[ops]
        for side, ops in ((found.a, found.op_a[rows_a]), (found.b, found.op_b[rows_b]))
    ]
    one, two = (mixed(key, occurrences(key)) for key in keys)
    _, at_a, at_b = np.intersect1d(one, two, assume_unique=True, return_indices=True)
    reason = say("comparison.reason.moved")
    for row_a, row_b in zip(rows_a[at_a].tolist(), rows_b[at_b].tolist(), strict=True):
        found.moved[row_a], found.moved[row_b] = row_b, row_a
        found.reason[row_a] = found.reason[row_b] = reason


def _compare_pairs(found: Compared, tolerance: float) -> None:
    a, b, state = found.a, found.b, found.state
    rows = np.flatnonzero((found.op_a >= 0) & (found.op_b >= 0))
    one, two = found.op_a[rows], found.op_b[rows]
    (digest_a, known_a), (digest_b, known_b) = a.digests(), b.digests()
    has_digests = a.decimals is not None and a.decimals == b.decimals
    is_known = (known_a[one] == known_b[two]) & (known_a[one] != 0) & has_digests
    differs = {
        "op": a.name[one] != b.name[two],
        "attributes": a.attributes[one] != b.attributes[two],
        "dtype": a.dtypes[one] != b.dtypes[two],
        "shape": a.shapes[one] != b.shapes[two],
        "gradient": a.stops[one] != b.stops[two],
        "raised": a.ops["raised"][one] != b.ops["raised"][two],
    }
    is_other = np.logical_or.reduce([*differs.values()])
    # What else differs about another op, or about an op that returned nothing, is no news.
    differs["attributes"] &= ~differs["op"]
    for kind in ("dtype", "shape", "gradient"):
        differs[kind] &= ~differs["op"] & ~differs["raised"]
    has_values = is_known & (digest_a[one] != digest_b[two])
    state[rows[is_known]] = EQUAL
    measures = tolerance > 0 or (a.record.kept_values and b.record.kept_values)
    reason = say("comparison.reason.values")
    for at in np.flatnonzero(has_values & ~is_other).tolist():
        row = int(rows[at])
        if measures:
            found.errors[row] = errors_of(a, b, int(one[at]), int(two[at]))
            if not found.errors[row].exceed(tolerance):
                continue
        state[row], found.reason[row] = DIFFERENT, reason
    _mark_introduced(found, rows[is_known & ~is_other])
    others = np.flatnonzero(is_other)
    state[rows[others]] = DIFFERENT
    # Many ops differ in the same way.
    columns = [
        getattr(side, name)[ops[others]]
        for side, ops in ((a, one), (b, two))
        for name in ("name", "attributes", "dtypes", "shapes")
    ]
    first, number = distinct(*columns, *(is_so[others] for is_so in differs.values()))
    reasons = []
    for at in others[first].tolist():
        sides = (a, b, int(one[at]), int(two[at]))
        if found.is_rerun:
            sides = (b, a, int(two[at]), int(one[at]))
        reasons.append(". ".join(_reason(kind, *sides) for kind in differs if differs[kind][at]))
    for row, key in zip(rows[others].tolist(), number.tolist(), strict=True):
        found.reason[row] = reasons[key]


def _mark_introduced(found: Compared, rows: Keys) -> None:
    """Mark ops whose outputs differ though all their inputs are equal."""
    one, two = found.op_a[rows], found.op_b[rows]
    (digest_a, known_a), (digest_b, known_b) = found.a.digests("input"), found.b.digests("input")
    is_same = (known_a[one] == known_b[two]) & (digest_a[one] == digest_b[two])
    is_same &= known_a[one] != 0
    found.origin[rows[is_same & (found.state[rows] == DIFFERENT)]] = INTRODUCED


def _reason(kind: str, a: Side, b: Side, op_a: int, op_b: int) -> str:
    def of_op(column: str) -> list[str]:
        sides = (a, op_a), (b, op_b)
        return [side.record.text(int(side.ops[column][op])) for side, op in sides]

    def of_outputs(side: Side, op: int) -> str:
        codes = side.record.tensors[kind][side.tensors_of(op, "output")]
        return ", ".join(map(side.record.text, codes.tolist()))

    if kind in ("raised", "gradient"):
        return say(f"comparison.reason.{kind}")
    if kind == "attributes":
        one, other = map(argument_texts, of_op("attributes"))
        lost, new = ([part for part in parts if part not in others]
                     for parts, others in ((one, other), (other, one)))  # fmt: skip
        if not lost and not new:
            lost, new = one, other  # in another order
        before, after = (", ".join(parts) or say("errors.none") for parts in (lost, new))
    elif kind == "op":
        before, after = of_op("name")
    else:
        before, after = of_outputs(a, op_a), of_outputs(b, op_b)
    return say(f"comparison.reason.{kind}", before=before, after=after)
