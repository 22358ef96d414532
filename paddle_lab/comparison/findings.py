"""Describes the first difference: which op, where in both traces, and what was edited."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.finding import Finding, Mark, Place
from paddle_lab.comparison.compared import INHERITED, INTRODUCED, UNKNOWN, Compared
from paddle_lab.comparison.edits import edit_of
from paddle_lab.comparison.gradient_rows import ComparedGradient
from paddle_lab.comparison.rows import ComparedOp, ComparedTable
from paddle_lab.trace.limit import CHECKSUMS, EXACT, PADIFF
from paddle_lab.trace.schema import BACKWARD_KINDS, TENSOR_KINDS
from paddle_lab.words import listing, say

KIND = "first-difference"
First = ComparedOp | ComparedGradient
_KINDS = {
    EXACT: "comparison.exact",
    CHECKSUMS: "comparison.checksums",
    PADIFF: "comparison.padiff",
}
"""Digests that are not of rounded values, by the number in place of decimals."""


def comparison_findings(rows: ComparedTable, found: Compared) -> list[Finding]:
    """Return the first difference as a finding; an empty list if nothing differs."""
    first = first_of(rows, found)
    if first is None:
        return []
    place = Place.of(first.frame)
    if isinstance(first, ComparedGradient):
        gradient = first.gradient
        grad_node = gradient.target_node if gradient.source_node < 0 else gradient.source_node
        row = first.op_row
    else:
        row, grad_node = first.key, -1
    return [
        Finding(
            kind=KIND,
            severity="warning",
            message=sentence(rows, found),
            advice=" ".join(_details(first, found)) or say("comparison.advice"),
            file=place.file,
            line=place.line,
            cell=place.cell,
            code=place.code,
            op=row,
            grad_node=grad_node,
            marks=(Mark("origin", op=row),),
        )
    ]


def findings_of_b(findings: Iterable[Finding], found: Compared) -> list[Finding]:
    """Return findings of trace b with the ops' rows in the comparison."""
    row = [*found.rows_of("b").tolist(), -1]
    return [
        replace(
            each,
            op=row[each.op],
            marks=tuple(replace(mark, op=row[mark.op]) for mark in each.marks),
        )
        for each in findings
    ]


def comparison_notices(rows: ComparedTable, found: Compared) -> list[str]:
    """Return the sentence about the whole comparison, and what could not be compared."""
    told = [sentence(rows, found)]
    first = first_of(rows, found)
    row = found.first()
    if isinstance(first, ComparedGradient):
        no_op = say("comparison.no_op", n=len(rows))
        told.append(_of_op(rows, rows[row], found) if row >= 0 else no_op)
    if first is not None:
        told += _details(first, found)
    if found.largest >= 0:
        largest = rows[found.largest]
        counts = [int((found.origin == origin).sum()) for origin in (INTRODUCED, INHERITED)]
        place = Place.of(largest.frame)
        told.append(
            say("comparison.largest", op=largest.name, place=place, made=counts[0], came=counts[1])
        )
    return told + _limits(found)


def sentence(rows: ComparedTable, found: Compared) -> str:
    """Return one sentence: the first difference with both lines, or that there is none."""
    first = first_of(rows, found)
    if first is None:
        unknown, n = int((found.state == UNKNOWN).sum()), len(found.state)
        if not unknown:
            return say("comparison.equal", n=n)
        return say("comparison.unknown", n=n, unknown=unknown)
    if isinstance(first, ComparedGradient):
        return say("comparison.gradient", node=first.name, place=Place.of(first.frame))
    return _of_op(rows, first, found)


def first_of(rows: ComparedTable, found: Compared) -> First | None:
    """Return the first difference, an op or a gradient; ``None`` if nothing differs."""
    at, row = found.first_gradient(), found.first()
    if at >= 0:
        return ComparedGradient(rows, found, at)
    return rows[row] if row >= 0 else None


def _of_op(rows: ComparedTable, first: ComparedOp, found: Compared) -> str:
    if first.key in found.moved:
        ops = first, rows[found.moved[first.key]]
        one, two = ops if first.a is not None else ops[::-1]
        at = Place.of(one.frame), Place.of(two.frame)
        return say("comparison.first.moved", op=first.name, a=at[0], b=at[1])
    if first.a is None or first.b is None:
        return say(f"comparison.first.{first.state}", op=first.name, place=Place.of(first.frame))
    places = Place.of(first.b.frame), Place.of(first.a.frame)
    is_same = str(places[0]) == str(places[1])
    key = "comparison.first.same_place" if is_same else "comparison.first.different"
    return say(key, op=first.name, place=places[0], other=places[1], reason=first.reason)


def _details(first: First, found: Compared) -> list[str]:
    told = []
    if isinstance(first, ComparedOp):
        inputs = _changed_inputs(first, found)
        if inputs:
            told.append(say("comparison.inputs", inputs=listing(inputs, 3)))
        elif found.origin[first.key] == INTRODUCED and first.b and first.b.inputs:
            told.append(say("comparison.introduced"))
        told += _lone_backward(first, found)
    edit = None if found.is_of_two_models else edit_of(first, found)
    if edit is not None:
        told.append(str(edit))
    return told


def _changed_inputs(first: ComparedOp, found: Compared) -> list[str]:
    """Return the inputs that no op made and that differ between the traces: data, parameters."""
    if first.a is None or first.b is None:
        return []
    (digest_a, known_a), (digest_b, known_b) = found.a.tensor_digests, found.b.tensor_digests
    known_a, known_b = known_a & found.a.is_fixed, known_b & found.b.is_fixed
    pairs = zip(
        found.a.tensors_of(first.a.key, "input"), found.b.tensors_of(first.b.key, "input"),
        strict=False,
    )  # fmt: skip
    facts = Facts(found.b.record)
    created = {event.tensor: event.stack for event in facts.events("created")}
    return [
        _named(facts, two, created.get(int(two), -1))
        for one, two in pairs
        if one >= 0 and two >= 0 and known_a[one] and known_b[two]
        and digest_a[one] != digest_b[two] and found.b.record.tensors["producer"][two] < 0
    ]  # fmt: skip


def _lone_backward(first: ComparedOp, found: Compared) -> list[str]:
    """Say that a backward call before the first difference ran in only one trace."""
    calls, before = {}, {}
    for name, side, ops in (("a", found.a, found.op_a), ("b", found.b, found.op_b)):
        table = side.record.backward_calls
        is_run = table["kind"] != BACKWARD_KINDS.index("remaining")
        # If the op is only in the other trace, it has no place among the calls between this trace's
        # ops around it.
        previous = ops[: first.key + 1].max(initial=-1)
        following = min((op for op in ops[first.key :].tolist() if op >= 0), default=len(side))
        before[name] = int((is_run & (table["ops_before"] <= previous)).sum())
        calls[name] = np.flatnonzero(is_run & (table["ops_before"] <= following))
    for name, other in (("a", "b"), ("b", "a")):
        if before[name] > len(calls[other]):
            record = (found.a if name == "a" else found.b).record
            stack = int(record.backward_calls["stack"][calls[name][before[name] - 1]])
            place = Facts(record).place_of_stack(stack)
            return [say("comparison.lone_backward", name=name, place=place)]
    return []


def _named(facts: Facts, tensor: int, created: int) -> str:
    """Return what a tensor is, by its name or by the stack of the call that created it."""
    tensors, text = facts.record.tensors, facts.record.text
    path = text(int(tensors["path"][tensor])) or text(int(tensors["name"][tensor]))
    kind = TENSOR_KINDS[int(tensors["kind"][tensor])]
    if kind not in ("parameter", "buffer", "gradient"):
        kind = "external"
        if created >= 0:
            return say("comparison.input.created", place=facts.place_of_stack(created))
    said = say(f"comparison.input.{kind}")
    return f"{said} `{path}`" if path else said


def _limits(found: Compared) -> list[str]:
    """Return sentences about what the traces lack for a full comparison."""
    told, sides = [], {"a": found.a, "b": found.b}
    empty = [name for name, side in sides.items() if not len(side)]
    if empty:
        return [say("comparison.empty", name=name) for name in empty]
    without = [name for name, side in sides.items() if side.decimals is None]
    decimals = {name: side.decimals for name, side in sides.items()}
    if without:
        told.append(say("comparison.no_digest", names=listing(without)))
    elif decimals["a"] != decimals["b"]:
        told.append(say("comparison.decimals", **{
            name: say(_KINDS[many]) if many in _KINDS else say("comparison.rounded", n=many)
            for name, many in decimals.items()
        }))  # fmt: skip
    told += [say("comparison.cut", name=name) for name, side in sides.items()
             if side.record.origin.kept]  # fmt: skip
    if found.is_of_two_models:
        told.append(say("comparison.other_model", n=found.matched))
    for what in ("paddle", "device"):
        one, two = (getattr(side.record.origin, what) for side in sides.values())
        if one != two:
            told.append(say(f"comparison.versions.{what}", a=one or "?", b=two or "?"))
    return told
