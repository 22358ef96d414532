"""The group tree as nested lists, so that a test can write down what it expects."""

from __future__ import annotations

from typing import Any

from paddle_lab.analysis.answers import with_answers
from paddle_lab.trace.record import Record


def tree(record: Record) -> list[Any]:
    """Return the names of ops, and ``[label, …]`` for groups, in the order of their first ops."""
    view = with_answers(record)
    groups = view.groups
    nodes: list[list[Any]] = [[view.text(int(code))] for code in groups["label"]]
    top: list[Any] = []
    parts = [
        (op, 1, view.text(int(view.ops["name"][op])), group)
        for op, group in enumerate(view.op_groups["group"].tolist())
    ]
    parts += [
        (first, 0, nodes[group], parent)
        for group, (first, parent) in enumerate(
            zip(groups["first_op"].tolist(), groups["parent"].tolist(), strict=True)
        )
    ]
    for _, _, part, parent in sorted(parts, key=lambda part: part[:2]):
        (nodes[parent] if parent >= 0 else top).append(part)
    return top
