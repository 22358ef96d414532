"""Runs checks over a record, and sorts their findings."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.finding import Finding, Found, Mark
from paddle_lab.analysis.findings.registry import checks, depth
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import FINDING_TABLES, MARK_ROLES, SEVERITIES
from paddle_lab.trace.table import StringPool, TableBuilder
from paddle_lab.words import Text, language, say

_IGNORE = re.compile(r"# paddle-lab: ignore(?:\[(?P<kinds>[^\]]*)\])?")


def find(record: Record, kinds: Iterable[str] | None = None) -> list[Finding]:
    """Return the findings, sorted by severity. A cause comes before its consequences.

    An error that is only the consequence of another error is omitted.

    Parameters
    ----------
    record
        A record with answer tables.
    kinds
        The checks to run; by default the checks for which the trace was recorded.
    """
    facts, known = Facts(record), checks()
    wanted = [kind for kind in (record.origin.checks if kinds is None else kinds) if kind in known]
    findings = [finding for kind in wanted for finding in _run(known[kind], facts)]
    return _without_consequences(sorted(findings, key=_rank))


def _run(check: Check, facts: Facts) -> list[Finding]:
    try:
        found = list(check.find(facts))
    except Exception as fault:  # noqa: BLE001  (a failing check must not hide other findings)
        fault_text = f"{type(fault).__name__}: {fault}"
        notice = say("findings.check_failed", check=check.kind, fault=fault_text)
        if notice not in facts.record.origin.notices:  # the check may have run in another language
            facts.record.origin.notices.append(notice)
        return []
    distinct: dict[tuple[str, int, str], Finding] = {}
    for one in found:
        finding, text = _finding(check, one), one.message
        is_alike = one.severity == "warning"  # except for its numbers
        told = text.key if is_alike and isinstance(text, Text) else finding.message
        distinct.setdefault((finding.file, finding.line, told), finding)
    wanted = [one for one in distinct.values() if not _is_ignored(one)]
    return sorted(wanted, key=_rank)[: check.most]


def _is_ignored(finding: Finding) -> bool:
    """Tell whether the line has ``# paddle-lab: ignore`` without kinds or with this kind."""
    said = _IGNORE.search(finding.code)
    return said is not None and (
        said["kinds"] is None or finding.kind in re.split(r"[\s,]+", said["kinds"])
    )


def _finding(check: Check, found: Found) -> Finding:
    place = found.place
    return Finding(
        kind=check.kind,
        severity=found.severity,
        message=str(found.message),
        advice=str(found.advice or check.advice),
        file=place.file,
        line=place.line,
        cell=place.cell,
        code=place.code,
        op=found.op,
        grad_node=found.grad_node,
        marks=tuple(found.marks),
    )


def _rank(finding: Finding) -> tuple[int, int, int]:
    # Findings without an op come last.
    op = finding.op if finding.op >= 0 else 1 << 31
    return SEVERITIES.index(finding.severity), depth(finding.kind), op


def _without_consequences(findings: list[Finding]) -> list[Finding]:
    """Return the findings without errors that are consequences of other errors.

    The cause also gets the marks of its consequence, so that the failed grad node is shown.

    Parameters
    ----------
    findings
        The findings, sorted: a cause comes before its consequences.
    """
    kept: list[Finding] = []
    for finding in findings:
        at = next((at for at, one in enumerate(kept) if _causes(one, finding)), -1)
        if at < 0:
            kept.append(finding)
        else:
            marks = dict.fromkeys((*kept[at].marks, *finding.marks))
            kept[at] = replace(kept[at], marks=tuple(marks))
    return kept


def _causes(one: Finding, other: Finding) -> bool:
    """Tell whether one error causes the other error at the same op or grad node."""
    return (
        one.severity == other.severity == "error"
        and one.kind in checks()[other.kind].consequence_of
        and not _things(one).isdisjoint(_things(other))
    )


def _things(finding: Finding) -> set[tuple[str, int]]:
    """Return the ops and grad nodes that a finding marks."""
    points: list[Finding | Mark] = [finding, *finding.marks]
    things = {("op", one.op) for one in points} | {("grad_node", one.grad_node) for one in points}
    return things - {("op", -1), ("grad_node", -1)}


def with_findings(record: Record, findings: Sequence[Finding]) -> Record:
    """Return the record with the tables ``findings`` and ``finding_marks`` added."""
    strings = StringPool(record.strings)
    rows = TableBuilder(FINDING_TABLES["findings"])
    marks = TableBuilder(FINDING_TABLES["finding_marks"])
    for finding in findings:
        key = rows.append(
            strings[finding.kind],
            SEVERITIES.index(finding.severity),
            strings[finding.message],
            strings[finding.advice],
            strings[finding.file],
            finding.line,
            -1 if finding.cell is None else finding.cell,
            finding.op,
            finding.grad_node,
        )
        for mark in finding.marks:
            marks.append(key, MARK_ROLES.index(mark.role), mark.op, mark.grad_node)
    tables = {**record.tables, "findings": rows.build(), "finding_marks": marks.build()}
    # The views use the language of the findings.
    origin = dataclasses.replace(record.origin, language=language())
    return Record(tables, strings.to_list(), origin, record.grad_values, record.kept_values)
