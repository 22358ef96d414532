"""The findings of a trace as text and HTML."""

from __future__ import annotations

from paddle_lab.analysis.findings.finding import Finding
from paddle_lab.analysis.findings.sentence_html import sentence_html
from paddle_lab.words import say


class FindingList(list[Finding]):
    """What the checks found: worst first, cause before consequence."""

    def __repr__(self) -> str:
        if not self:
            return say("reports.nothing_found")
        return "\n".join(f"{finding}\n    {finding.advice}" for finding in self)

    def _repr_html_(self) -> str:
        if not self:
            return f"<p>{say('reports.nothing_found')}</p>"
        items = "".join(
            f"<li><b>{say(f'page.severity_in_text.{finding.severity}')}</b> "
            f"{sentence_html(finding.message)}<br><small>{sentence_html(finding.advice)}</small></li>"
            for finding in self
        )
        return f"<ul>{items}</ul>"
