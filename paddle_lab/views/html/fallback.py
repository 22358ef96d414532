"""The HTML of a trace where no widget can be shown: no kernel, no extension, nbconvert.

JupyterLab and Notebook 7 sanitize such HTML: they remove SVG elements and scripts. A picture in an
``<img>``, tables and ``<details>`` remain.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape

from paddle_lab.analysis.ranking.ranked_table import ranked_table
from paddle_lab.analysis.tables.text_table import html_table, sentence_html
from paddle_lab.trace.record import Record
from paddle_lab.views.html.notebook_output import still_html
from paddle_lab.views.svg.folding import fold
from paddle_lab.views.svg.picture import svg_picture
from paddle_lab.views.text.finding_text import finding_texts
from paddle_lab.views.text.summary import (
    backward_lines,
    counts,
    failures,
    full_title,
    program_rows,
    shown_title,
)
from paddle_lab.words import say

_LARGEST_BYTES = 30_000
_NOTE_BYTES = 500
_ROWS = (44, 36, 30, 24, 18, 12)
_MOST_FINDINGS = 30
_COSTS = ("calls", "total_ns", "flops", "output_bytes")


def fallback_html(record: Record) -> str:
    """Return HTML for any page: a picture, the summary, and the costs of layers and lines.

    Parameters
    ----------
    record
        A record with answer tables.
    """
    return still_html(still_content(record), say("environments.still_elsewhere"))


def still_content(record: Record) -> str:
    """Return the HTML that comes after the first sentence.

    Parameters
    ----------
    record
        A record with answer tables.
    """
    title = escape(shown_title(record))
    problems = _findings(record)
    problems += "".join(f"<p><b>{escape(text)}</b></p>" for text in failures(record))
    notices = "".join(f"<p>{escape(text)}</p>" for text in record.origin.notices)
    calls = [(line,) for line in backward_lines(record)]
    heading = [(say("reports.column.call"),)] if calls else []
    tables = _costs(record, "layer")
    tables += _table(say("reports.programs.title"), program_rows(record))
    tables += _table(say("reports.section.backward"), [*heading, *calls])
    tables += _costs(record, "line")
    rest = f"{problems}{notices}{tables}"
    room = _LARGEST_BYTES - _NOTE_BYTES - len(rest.encode())
    head = _picture(record, room) or f"<p><b>{title}</b> {escape(counts(record))}</p>"
    return f"{head}{rest}"


def _findings(record: Record) -> str:
    """Return the findings: the worst ones in full, the others in a part that opens on a click."""
    findings = finding_texts(record)
    items = [
        f"<p><b>{finding.sign} {say(f'page.severity.{finding.severity}')}</b> "
        f"{sentence_html(finding.message)}"
        f"{f' <i>{escape(finding.where)}</i>' if finding.where else ''}"
        f"{f'<br>{sentence_html(finding.advice)}' if finding.advice else ''}</p>"
        for finding in findings[:_MOST_FINDINGS]
    ]
    if len(items) < 2:
        return "".join(items)
    more = say("reports.more_findings", n=len(findings) - 1)
    return f"{items[0]}<details><summary>{more}</summary>{''.join(items[1:])}</details>"


def _picture(record: Record, room_bytes: int) -> str:
    """Return the ladder as an image with as many rows as fit."""
    room_bytes = (room_bytes - 200) * 3 // 4
    fitting = _ROWS[0]
    for most_rows in _ROWS:
        # Each try takes as long as the final picture. So skip sizes that cannot fit.
        if most_rows > max(fitting, _ROWS[-1]):
            continue
        folded = fold(record, most_rows=most_rows)
        picture = svg_picture(record, folded=folded).encode("utf-8")
        fitting = len(folded.rows) * room_bytes // len(picture)
        if len(picture) <= room_bytes:
            data = base64.b64encode(picture).decode()
            alt = escape(full_title(record))
            return f'<img src="data:image/svg+xml;base64,{data}" alt="{alt}">'
    return ""


def _costs(record: Record, by: str) -> str:
    """Return a table of the costs of layers or of lines; ``""`` if no op is in one."""
    if by == "layer" and not len(record.layers):
        return ""
    table = ranked_table(record, by)
    has_rows = any(row[by] is not None for row in table)
    return _table(say(f"reports.section.{by}s"), table.shown(_COSTS) if has_rows else [])


def _table(title: str, rows: Sequence[tuple[str, ...]]) -> str:
    """Return a table that opens on a click. The first row is its heading."""
    if len(rows) < 2:
        return ""
    return f"<details><summary>{title}</summary>{html_table(rows[0], rows[1:])}</details>"
