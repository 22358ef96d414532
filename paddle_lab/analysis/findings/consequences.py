"""Tell an error once: what a finding only repeats of its cause goes into the cause's own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.finding import Finding


def without_consequences(findings: Iterable[Finding], checks: dict[str, Check]) -> list[Finding]:
    """Return the findings without errors that are the consequence of another one among them.

    The cause keeps the consequence's marks: the grad node that failed is shown as such.

    Parameters
    ----------
    findings
        Causes before consequences.
    checks
        All checks by kind.
    """
    told: list[Finding] = []
    for finding in findings:
        at = next((at for at, one in enumerate(told) if _causes(one, finding, checks)), -1)
        if at < 0:
            told.append(finding)
        else:
            marks = dict.fromkeys((*told[at].marks, *finding.marks))
            told[at] = replace(told[at], marks=tuple(marks))
    return told


def _causes(one: Finding, other: Finding, checks: dict[str, Check]) -> bool:
    """Tell whether both are errors about one thing, and of kinds that are cause and consequence."""
    return (
        one.severity == other.severity == "error"
        and other.kind in checks
        and one.kind in checks[other.kind].consequence_of
        and not _things(one).isdisjoint(_things(other))
    )


def _things(finding: Finding) -> set[tuple[str, int]]:
    places = [
        (finding.op, finding.grad_node),
        *((mark.op, mark.grad_node) for mark in finding.marks),
    ]
    return {
        thing
        for op, grad_node in places
        for thing in (("op", op), ("grad_node", grad_node))
        if thing[1] >= 0
    }
