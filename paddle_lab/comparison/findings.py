"""Describes the first difference: which op, where in both traces, and what was edited."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.facts.training import Training
from paddle_lab.analysis.findings.finding import Finding, Mark, Place
from paddle_lab.analysis.source.stacks import place
from paddle_lab.analysis.tables.tensors import Tensor
from paddle_lab.comparison.compared import INHERITED, INTRODUCED, UNKNOWN, Compared
from paddle_lab.comparison.edits import edit_of
from paddle_lab.comparison.gradient_rows import ComparedGradient
from paddle_lab.comparison.rows import ComparedOp, ComparedTable
from paddle_lab.trace.limit import CHECKSUMS, EXACT, PADIFF
from paddle_lab.trace.record import Record
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
    first, row = first_of(rows, found), found.first()
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
    """Return the first difference with both lines and its layer, or that there is none."""
    if not len(found.a) and not len(found.b):
        return say("comparison.both_empty")
    for name, side in (("a", found.a), ("b", found.b)):
        if not len(side):
            return say("comparison.empty", name=name)
    first = first_of(rows, found)
    if first is None:
        unknown, n = int((found.state == UNKNOWN).sum()), found.matched
        if unknown:
            return say("comparison.unknown", n=n, unknown=unknown)
        return say("comparison.equal" if n == len(found.state) else "comparison.equal_kept", n=n)
    if isinstance(first, ComparedGradient):
        said = say("comparison.gradient", node=first.name, place=Place.of(first.frame))
    else:
        said = _of_op(rows, first, found)
    op, record = (first.b, found.b.record) if first.b else (first.a, found.a.record)
    return " ".join([said, *(_where(record, op.key) if op else ())])


def first_of(rows: ComparedTable, found: Compared) -> First | None:
    """Return the first difference, an op or a gradient; ``None`` if nothing differs."""
    at, row = found.first_gradient(), found.first()
    if at >= 0:
        return ComparedGradient(rows, found, at)
    return rows[row] if row >= 0 else None


def _of_op(rows: ComparedTable, first: ComparedOp, found: Compared) -> str:
    if first.key in found.moved:
        at = Place.of(first.frame), Place.of(rows[found.moved[first.key]].frame)
        one, two = at if first.a is not None else at[::-1]
        return say("comparison.first.moved", op=first.name, a=one, b=two)
    if first.a is None or first.b is None:
        name, other, ops = ("a", "b", found.op_a) if first.a is None else ("b", "a", found.op_b)
        if not (ops[first.key :] >= 0).any():
            place = Place.of(first.frame)
            return say("comparison.first.end", name=name, other=other, op=first.name, place=place)
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
    edit = None if found.is_of_two_models else edit_of(first, found)
    if edit is not None:
        told.append(str(edit))
    return told


def _changed_inputs(first: ComparedOp, found: Compared) -> list[str]:
    """Return the inputs that no op made and that differ between the traces: data, parameters."""
    if first.a is None or first.b is None or first.a.name != first.b.name:
        return []
    (digest_a, known_a), (digest_b, known_b) = found.a.tensor_digests, found.b.tensor_digests
    known_a, known_b = known_a & found.a.is_fixed, known_b & found.b.is_fixed
    facts = Facts(found.b.record)
    created = {event.tensor: event.stack for event in facts.events("created")}
    return [
        _named(facts, two, created.get(two.key, -1))
        for one, two in zip(first.a.inputs, first.b.inputs, strict=False)
        if known_a[one.key] and known_b[two.key] and digest_a[one.key] != digest_b[two.key]
        and found.b.record.tensors["producer"][two.key] < 0
    ]  # fmt: skip


def _where(record: Record, op: int) -> list[str]:
    """Say in which layer an op ran, and in which iteration of the loop around the model."""
    training = Facts(record).answer(Training)
    calls = training.layers_around(op)
    parts = []
    if calls:
        layers = record.scopes["layer"][[calls[-1], calls[0]]]
        root, path = map(record.text, record.layers["path"][layers].tolist())
        named = f"{root}.{path}" if path[:1].isdigit() else path  # "net.0" of a Sequential
        parts.append(say("comparison.where.layer", layer=named))
    outermost = calls[-1] if calls else int(record.ops["scope"][op])
    for loop, number in training.turns_around(outermost)[:1]:
        file, line, cell = (int(record.loops[name][loop]) for name in ("file", "line", "cell"))
        at = place(record.text(file), line, cell)
        parts.append(say("comparison.where.iteration", n=number, place=at))
    return [say("comparison.where", parts=listing(parts))] if parts else []


def _named(facts: Facts, tensor: Tensor, created: int) -> str:
    """Return what a tensor is, by its name or by the stack of the call that created it."""
    name = tensor.path or tensor.name
    if tensor.kind in ("parameter", "buffer", "gradient"):
        said = say(f"comparison.input.{tensor.kind}")
        return f"{said} `{name}`" if name else said
    if created >= 0:
        return say("comparison.input.created", place=facts.place_of_stack(created))
    return say("comparison.input.external", tensor=tensor)


def _limits(found: Compared) -> list[str]:
    """Return sentences about what the traces lack for a full comparison."""
    sides = {"a": found.a, "b": found.b}
    told, origin = [], found.a.record.origin
    if origin.stopped_line:  # every view tells what stopped trace b
        at = place(origin.stopped_file, origin.stopped_line, origin.stopped_cell)
        error = origin.exception.partition(":")[0]
        told.append(say("comparison.stopped", error=error, place=at))
    if not all(len(side) for side in sides.values()):
        return told
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
    ran = {name: side.record for name, side in sides.items() if len(side.record.programs)}
    if len(ran) == 1:
        [(name, record)] = ran.items()
        n, op = (int(record.programs[column][0]) for column in ("ops", "op"))
        told.append(say("comparison.program", name=name, n=n, place=Facts(record).place(op)))
    if found.is_of_two_models:
        told.append(say("comparison.other_model", n=found.matched))
    for what in ("paddle", "device"):
        one, two = (getattr(side.record.origin, what) for side in sides.values())
        if one != two:
            told.append(say(f"comparison.versions.{what}", a=one or "?", b=two or "?"))
    return told
