"""Findings as tables for the views."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from paddle_lab.analysis.findings.finding import Finding
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import FINDING_TABLES, MARK_ROLES, SEVERITIES
from paddle_lab.trace.table import StringPool, TableBuilder
from paddle_lab.words import language


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
    return Record(tables, strings.to_list(), origin, record.grad_values)
