"""A trace as text: its title, counts, tables and sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from paddle_lab.analysis.findings.saved.failed_backward import reason
from paddle_lab.analysis.graph.odd_siblings import odd_siblings
from paddle_lab.analysis.ranking.ranked_table import ranked_table
from paddle_lab.analysis.tables.ops import OpTable
from paddle_lab.analysis.tables.summaries import BackwardCall, backward_calls
from paddle_lab.analysis.tables.text_table import text_table
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import PHASES, PROGRAM_KINDS
from paddle_lab.views.text.finding_text import finding_counts, finding_lines, finding_texts
from paddle_lab.views.text.layer_summary import layer_lines
from paddle_lab.views.text.memory_text import memory_lines
from paddle_lab.words import say

_MOST_ODD = 20
_HANDED_ON = "(External)"
"""How Paddle begins the message of a Python error in backward; the error's own lines follow."""


def one_line(record: Record) -> str:
    """Return the trace's title, counts and worst finding in one line."""
    findings = finding_texts(record)
    if not findings:
        return title_line(record)
    found = say("reports.told", counts=finding_counts(record), message=findings[0].message)
    return f"{title_line(record)} · {found}"


def title_line(record: Record) -> str:
    """Return the trace's title and counts in one line."""
    title = record.origin.title
    return say("reports.headline", title=title, counts=counts(record)) if title else counts(record)


def shown_title(record: Record) -> str:
    """Return the trace's title, or a default title."""
    return record.origin.title or say("page.toolbar.trace")


def full_title(record: Record) -> str:
    """Return the trace's title and counts, for the title of a page or picture."""
    return say("reports.headline", title=shown_title(record), counts=counts(record))


def counts(record: Record) -> str:
    """Return a text such as ``"342 ops · 231 grad nodes · 38 ms"``."""
    # The ops of compiled programs are in the record but do not count: each program ran as one op.
    inside = [len(record.tables[name]) for name in ("program_ops", "program_grad_nodes")]
    told = [
        say("page.count.op", n=len(record.ops) - inside[0]),
        say("page.count.grad_node", n=len(record.grad_nodes) - inside[1]),
    ]
    spent = record.origin.duration_ns
    return " · ".join([*told, duration(spent)] if spent else told)


def duration(duration_ns: int) -> str:
    """Return a duration with a suitable unit."""
    if duration_ns < 1_000_000:
        return f"{duration_ns / 1e3:.0f} µs"
    if duration_ns < 1_000_000_000:
        return f"{duration_ns / 1e6:.3g} ms"
    return f"{duration_ns / 1e9:.3g} s"


def failures(record: Record) -> list[str]:
    """Return sentences about the exception that ended the trace and about failed backward calls."""
    sentences = []
    raised = record.origin.exception
    if raised:
        sentences.append(say("reports.raised", error=_first_line(raised)))
    errors = record.backward_calls["error"].tolist()
    for call, code in enumerate(errors):
        error = _first_line(record.text(code)) if record.text(code) != raised else ""
        if error and len(errors) == 1:
            sentences.append(say("reports.backward_failed", error=error))
        elif error:
            sentences.append(say("reports.backward_n_failed", n=call + 1, error=error))
    return sentences


def summary_text(record: Record) -> str:
    """Return the summary of a record with answer tables."""
    origin = record.origin
    paddle = f"Paddle {origin.paddle}" if origin.paddle else ""
    python = f"Python {origin.python}" if origin.python else ""
    made_by = " · ".join(filter(None, (paddle, python, origin.device, origin.created)))
    phases = np.bincount(record.ops["phase"], minlength=len(PHASES)).tolist()
    by_phase = say("lists.between").join(
        say("reports.of_phase", n=count, phase=say(f"page.phase.{phase}"))
        for phase, count in zip(PHASES, phases, strict=True)
        if count
    )
    ops = say("reports.ops", phases=by_phase or say("errors.none"))
    parts = [[title_line(record), *([made_by] if made_by else []), ops]]
    parts += [finding_lines(record), failures(record), list(origin.notices), memory_lines(record)]
    parts += [layer_lines(record, ranked_table(record, "layer")), _odd_lines(record)]
    parts.append(_section(say("reports.programs.title"), program_rows(record)))
    calls = [f"  {line}" for line in backward_lines(record)] if origin.duration_ns else []
    parts.append([say("reports.section.backward"), *calls] if calls else [])
    return "\n\n".join("\n".join(part) for part in parts if part)


def _odd_lines(record: Record) -> list[str]:
    """Return a line for each layer that differs from its siblings, a heading first."""
    odd = odd_siblings(record)
    path = record.groups["path"]
    if not odd:
        return []
    lines = [say("reports.section.odd")]
    for each in odd[:_MOST_ODD]:
        name = record.text(int(path[each.group]))
        lines.append(f"  {say('reports.odd', path=name, sentence=each.sentence)}")
    if len(odd) > _MOST_ODD:
        lines.append(f"  {say('reports.more', n=len(odd) - _MOST_ODD)}")
    return lines


def program_rows(record: Record) -> list[tuple[str, ...]]:
    """Return the compiled programs that ran, in the order of their first runs, a heading first.

    Calls that compiled nothing come last.
    """
    table = record.programs
    rows: list[tuple[str, ...]] = []
    numbers = table["program"].tolist()
    for number_of in dict.fromkeys(number for number in numbers if number >= 0):
        first, runs = numbers.index(number_of), numbers.count(number_of)
        kind = PROGRAM_KINDS[int(table["kind"][first])]
        ops, backward_ops = (int(table[column][first]) for column in ("ops", "backward_ops"))
        where = OpTable(record, table["op"][first : first + 1])[0].where
        parameters = int(table["parameters"][first])
        # Paddle does not tell which ops of an Executor's program belong to its backward.
        backward = "–" if kind == "executor" else f"{backward_ops:,}"
        by = say(f"page.program.by_{kind}")
        rows.append((where, by, f"{ops:,}", backward, f"{parameters:,}", f"{runs:,}"))
    uncompiled = OpTable(record, table["op"][table["program"] < 0])
    for where, runs in Counter(op.where for op in uncompiled).items():
        rows.append((where, say("reports.programs.none"), "–", "–", "–", f"{runs:,}"))
    if not rows:
        return []
    heading = ("line", "kind", "forward", "backward", "parameters", "runs")
    return [tuple(say(f"reports.programs.{name}") for name in heading), *rows]


def backward_lines(record: Record) -> list[str]:
    """Return a line for each kind of backward call. Equal calls from one line share a line."""
    alike: dict[tuple[object, ...], list[BackwardCall]] = {}
    for call in backward_calls(record):
        where = call.frame.where if call.frame else ""
        kind = (call.kind, where, call.grad_node_count, call.create_graph, call.error)
        alike.setdefault(kind, []).append(call)
    return [
        _backward_line(calls[0])
        if len(calls) == 1
        else f"{len(calls):,} × {_backward_line(calls[0])}"
        for calls in alike.values()
    ]


def _backward_line(call: BackwardCall) -> str:
    nodes = say("page.count.grad_node", n=call.grad_node_count)
    if call.kind == "remaining":
        return say("reports.backward.not_run", nodes=nodes)
    told = call.kind
    if call.frame:
        told = say("reports.backward.at", kind=call.kind, line=call.frame.where)
    told = say("reports.backward.ran", call=told, nodes=nodes)
    if call.create_graph:
        told = say("reports.backward.create_graph", told=told)
    if call.error:
        told = say("reports.backward.failed", told=told, error=_first_line(call.error))
    return told


def _section(title: str, rows: Sequence[tuple[str, ...]]) -> list[str]:
    if not rows:
        return []
    heading, *body = rows
    return [title, *(f"  {line}" for line in text_table(heading, body).splitlines())]


def _first_line(text: str) -> str:
    """Return the first line. If Paddle's error only refers to another error, add its reason."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line.removesuffix(_HANDED_ON) + reason(text) if line.endswith(_HANDED_ON) else line
