"""``to_static`` split a function, runs a part of it eagerly, or compiled it again.

Without ``full_graph=True``, Paddle compiles what it can and runs the rest eagerly. It often does so
silently: at a condition on a tensor, or for a function with ``try`` or ``with``. Each break costs
the time between two programs, and keeps ops from being fused.

No alarm: what Paddle compiles whole. Breaks are seen while Paddle compiles: a function that was
compiled before the trace shows none. :func:`paddle_lab.explain_static` always shows them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paddle_lab.analysis.findings.parts import Check, Event, Facts, Found, found
from paddle_lab.words import Text


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines that broke a graph, then the lines that made Paddle compile again."""
    for event in facts.events("graph_break"):
        kind, function = event.detail.split("\n")
        key = "eager" if function else "split"
        told = Text(f"breaks.kind.{kind}")
        values: dict[str, Any] = {"kind": told, "function": function}
        yield _found(facts, event, key, Text(f"breaks.advice.{kind}"), values)
    for event in facts.events("recompiled"):
        function, cause, before, now = event.detail.split("\n")
        key = "changed" if before and now else "changed_from" if before else "changed_other"
        change = Text(f"breaks.{key}", cause=cause, before=before, now=now)
        values = {"function": function, "change": change}
        yield _found(facts, event, "recompiled", Text("breaks.recompiled_advice"), values)


def _found(facts: Facts, event: Event, key: str, advice: Text, values: dict[str, Any]) -> Found:
    # The op of the call is recorded before the breaks of the call are noted.
    op = event.ops_before - 1
    is_call = 0 <= op < facts.op_count and facts.op_name(op) == "run_program"
    return found(
        f"graph-break.{key}",
        facts.place_of_stack(event.stack),
        op if is_call else -1,
        severity="info",
        advice=advice,
        **values,
    )


CHECK = Check(
    find=find,
    example="@to_static(full_graph=False)\ndef loss(x):\n    if x.max() > 0: ...  # breaks",
    most=100,  # each is one line
)
