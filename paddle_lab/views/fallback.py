"""What a notebook shows of a trace where no widget is drawn: no kernel, no extension, nbconvert.

JupyterLab and Notebook 7 pass such HTML through a sanitizer, which takes away SVG elements and
scripts. A picture in an ``<img>``, tables and ``<details>`` stay.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Sequence
from html import escape
from itertools import islice

from paddle_lab.analysis.findings.sentence_html import sentence_html
from paddle_lab.analysis.stacks import Frame
from paddle_lab.analysis.summaries import backward_calls
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import FRAME_KINDS
from paddle_lab.views.finding_text import told_findings
from paddle_lab.views.svg import svg_picture
from paddle_lab.views.svg_classes import with_classes
from paddle_lab.views.text import (
    backward_line,
    counts,
    failures,
    layer_rows,
    slowest_rows,
)

_LARGEST_BYTES = 30_000
_ROWS = (44, 36, 30, 24, 18, 12)
_MOST_FINDINGS = 30
_NAMES = {"error": "Error", "warning": "Warning", "info": "Note"}
_PLACE = ("file", "cell", "line", "function")
_MOST_LINES, _MOST_CALLERS, _MOST_NAMES = 60, 3, 8


def fallback_html(record: Record) -> str:
    """Return the HTML: a picture, the summary, and the lines that called ops.

    Parameters
    ----------
    record
        A record with answer tables.
    """
    title = escape(record.origin.title or "Trace")
    problems = _findings(record)
    problems += "".join(f"<p><b>{escape(text)}</b></p>" for text in failures(record))
    notices = "".join(f"<p>{escape(text)}</p>" for text in record.origin.notices)
    back = (
        "<p><i>A still picture. For the interactive graph run the cell again, or open a saved "
        'trace with <code>paddle_lab.load("…")</code>.</i></p>'
    )
    calls = [(backward_line(call),) for call in backward_calls(record)]
    tables = "".join(
        (
            _table("Layers", layer_rows(record)),
            _table("Slowest ops", slowest_rows(record)),
            _table("Backward calls", [("call",), *calls] if calls else []),
            _table("Lines and their ops", _line_rows(record)),
        )
    )
    rest = f"{problems}{notices}{back}{tables}"
    room = _LARGEST_BYTES - len(rest.encode())
    head = _picture(record, room) or f"<p><b>{title}</b> {escape(counts(record))}</p>"
    return f"<div>{head}{rest}</div>"


def _findings(record: Record) -> str:
    """Return the findings: the worst in full, the others behind a click."""
    items = [
        f"<p><b>{finding.sign} {_NAMES[finding.severity]}</b> {sentence_html(finding.message)}"
        f"{f' <i>{escape(finding.where)}</i>' if finding.where else ''}"
        f"{f'<br>{sentence_html(finding.advice)}' if finding.advice else ''}</p>"
        for finding in told_findings(record)
    ]
    if len(items) < 2:
        return "".join(items)
    shown = items[1:_MOST_FINDINGS]
    more = f"{len(items) - 1:,} more finding{'s' * (len(items) > 2)}"
    return f"{items[0]}<details><summary>{more}</summary>{''.join(shown)}</details>"


def _picture(record: Record, room_bytes: int) -> str:
    """Return the ladder as an image, with as many rows as there is room for."""
    for most_rows in _ROWS:
        picture = with_classes(svg_picture(record, most_rows=most_rows)).encode("utf-8")
        if len(picture) * 4 / 3 + 200 <= room_bytes:
            data = base64.b64encode(picture).decode()
            alt = escape(f"{record.origin.title or 'Trace'}: {counts(record)}")
            return f'<img src="data:image/svg+xml;base64,{data}" alt="{alt}">'
    return ""


def _line_rows(record: Record) -> list[tuple[str, ...]]:
    """Return, for each stack of the user's frames, where it is and which ops it called."""
    by_stack: dict[int, list[int]] = {}
    for op, stack in enumerate(record.ops["stack"].tolist()):
        by_stack.setdefault(stack, []).append(op)
    # Of very many lines few are shown: they are told apart by numbers, without their texts.
    place_of_frame = list(zip(*(record.frames[c].tolist() for c in _PLACE), strict=True))
    own_frames = _OwnFrames(record)
    names = record.ops["name"]
    ops_of_line: dict[tuple[object, ...], Counter[int]] = {}
    first: dict[tuple[object, ...], tuple[int, list[int]]] = {}
    for stack, ops in by_stack.items():
        frames = own_frames.of(stack)
        line: tuple[object, ...] = tuple(place_of_frame[frame] for frame in frames)
        first.setdefault(line, (ops[0], frames))
        ops_of_line.setdefault(line, Counter()).update(names[ops].tolist())
    rows: list[tuple[str, ...]] = [("line", "source", "called from", "first op", "ops")]
    for line, called in islice(ops_of_line.items(), _MOST_LINES):
        most = [(record.text(name), count) for name, count in called.most_common(_MOST_NAMES)]
        shown = [f"{name} ×{count}" if count > 1 else name for name, count in most]
        more = f" … {len(called) - _MOST_NAMES} more" if len(called) > _MOST_NAMES else ""
        op, frames = first[line]
        rows.append(
            (*_line([Frame(record, frame) for frame in frames]), str(op), ", ".join(shown) + more)
        )
    if len(ops_of_line) > _MOST_LINES:
        rows.append((f"… {len(ops_of_line) - _MOST_LINES:,} more lines", "", "", "", ""))
    return rows if len(rows) > 1 else []


class _OwnFrames:
    """The user's frames of a stack, innermost first: those that are told, and one more."""

    def __init__(self, record: Record) -> None:
        self._frame: list[int] = record.stacks["frame"].tolist()
        self._caller: list[int] = record.stacks["caller"].tolist()
        self._is_user: list[bool] = (record.frames["kind"] == FRAME_KINDS.index("user")).tolist()

    def of(self, stack: int) -> list[int]:
        """Return keys of frames; of a stack without the user's code its innermost."""
        own: list[int] = []
        innermost: list[int] = []
        for _ in range(len(self._frame)):  # a foreign trace may have callers in a circle
            if stack < 0 or len(own) > 1 + _MOST_CALLERS:
                break
            frame = self._frame[stack]
            if frame >= 0:
                innermost = innermost or [frame]
                if self._is_user[frame]:
                    own.append(frame)
            stack = self._caller[stack]
        return own or innermost


def _line(own: list[Frame]) -> tuple[str, ...]:
    if not own:
        return ("unknown", "", "")
    callers = [_place(frame) for frame in own[1 : 1 + _MOST_CALLERS]]
    if len(own) > 1 + _MOST_CALLERS:
        callers.append("…")
    return (_place(own[0]), own[0].text[:100], " ← ".join(callers))


def _place(frame: Frame) -> str:
    function = "" if frame.function == "<module>" else f" in {frame.function}"
    return f"{frame.where}{function}"


def _table(title: str, rows: Sequence[tuple[str, ...]]) -> str:
    """Return a table that opens on a click; the first row is its heading."""
    if not rows:
        return ""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row) + "</tr>" for row in rows[1:]
    )
    return f"<details><summary>{title}</summary><table><tr>{head}</tr>{body}</table></details>"


def _cell(text: str) -> str:
    indent = len(text) - len(text.lstrip())
    return "&nbsp;" * (2 * indent) + escape(text.strip())
