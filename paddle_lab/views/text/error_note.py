"""The note below a traceback: the cause of the error, its line, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from paddle_lab.analysis.findings.finding import Finding
from paddle_lab.analysis.tables.text_table import sentence_html
from paddle_lab.error_help.lookup import ErrorHelp
from paddle_lab.words import say

# These are variables of the notebook's theme with fallbacks, for light and dark pages.
_BOX: Final = (
    "border-left: 4px solid var(--jp-warn-color1, #b85c00); padding: 4px 12px; margin: 6px 0; "
    "color: var(--jp-content-font-color1, inherit); background: var(--jp-layout-color1, inherit)"
)
_QUIET: Final = "color: var(--jp-content-font-color2, inherit); font-size: 90%"


class ErrorNote:
    """A note about the error that ended a cell.

    Parameters
    ----------
    findings
        Findings that explain the error.
    helps
        Entries of the table of known errors that fit the error.
    """

    def __init__(self, findings: Sequence[Finding], helps: Sequence[ErrorHelp]) -> None:
        self._findings = findings
        self._helps = helps

    def __bool__(self) -> bool:
        return bool(self._findings or self._helps)

    def __repr__(self) -> str:
        lines = []
        for finding in self._findings:
            lines += [finding.message, f"    {finding.advice}"]
        for known in self._helps:
            lines += [say("errors.help_title", title=known.title), f"    {known.advice}"]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        told = [(finding.message, finding.advice, "") for finding in self._findings]
        told += [(known.title, known.advice, known.source) for known in self._helps]
        paragraphs = "".join(
            f"<p><b>{sentence_html(title)}</b></p><p>{sentence_html(advice)}</p>{_source(source)}"
            for title, advice, source in told
        )
        return f'<div style="{_BOX}">{paragraphs}</div>'


def _source(source: str) -> str:
    if not source:
        return ""
    shown = escape(source)
    if source.startswith("https://"):
        shown = f'<a href="{shown}" target="_blank" rel="noopener">{shown}</a>'
    return f'<p style="{_QUIET}">{say("errors.source", source=shown)}</p>'
