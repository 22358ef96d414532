"""Finds the first gradient that differs, if nothing before its backward call differs."""

from __future__ import annotations

import numpy as np

from paddle_lab.analysis.findings.finding import Place
from paddle_lab.analysis.source.stacks import Frame
from paddle_lab.comparison.compared import Compared
from paddle_lab.comparison.side import Side
from paddle_lab.trace.trees import taken
from paddle_lab.words import say

Passed = dict[int, list[tuple[int, int]]]
"""For each op: the rows of ``grad_stats`` of its grad nodes, in order, with their digests."""


def gradient_notice(found: Compared) -> str:
    """Return a sentence about the first gradient that differs; ``""`` if none is known."""
    a, b = found.a, found.b
    if a.decimals != b.decimals:
        return ""
    passed_a, passed_b = _passed(a), _passed(b)
    first = -1
    for op_a, op_b in zip(found.op_a.tolist(), found.op_b.tolist(), strict=True):
        one, two = passed_a.get(op_a, []), passed_b.get(op_b, [])
        if op_a >= 0 and op_b >= 0 and len(one) == len(two):
            rows = [row for (_, digest), (row, other) in zip(one, two, strict=True)
                    if digest != other]  # fmt: skip
            first = min([row for row in (first, *rows) if row >= 0], default=-1)
    if first < 0:
        return ""
    record = b.record
    call, node = (int(record.grad_stats[name][first]) for name in ("backward_call", "grad_node"))
    row = found.first()
    before = found.op_b[:row].max(initial=-1) + 1 if row >= 0 else len(b)
    if before < record.backward_calls["ops_before"][call]:
        return ""
    op = int(record.grad_nodes["op"][node])
    frame = int(taken(record.stack_frames["frame"], b.ops["stack"][[op]])[0])
    place = Place.of(Frame(record, frame) if frame >= 0 else None)
    return say("comparison.gradient", node=record.text(int(record.grad_nodes["name"][node])),
               place=place)  # fmt: skip


def _passed(side: Side) -> Passed:
    record = side.record
    row, digest = (record.grad_digests[name] for name in ("grad_stat", "digest"))
    op = taken(record.grad_nodes["op"], record.grad_stats["grad_node"][row])
    found: Passed = {}
    order = np.argsort(row, kind="stable")
    for key, *told in zip(op[order].tolist(), row[order].tolist(), digest[order].tolist(),
                          strict=True):  # fmt: skip
        if key >= 0:
            found.setdefault(key, []).append((told[0], told[1]))
    return found
