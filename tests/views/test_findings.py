"""Findings in static output: the summary, the SVG, the HTML in a saved notebook."""

from __future__ import annotations

from html import unescape

import pytest

from paddle_lab.analysis.answers import with_answers
from paddle_lab.analysis.findings.find import with_findings
from paddle_lab.analysis.findings.finding import Finding
from paddle_lab.trace.record import Record
from paddle_lab.views.html.fallback import fallback_html
from paddle_lab.views.svg.picture import svg_picture
from paddle_lab.views.text.finding_text import finding_counts
from paddle_lab.views.text.summary import one_line, summary_text
from tests.trace.records import RecordWriter
from tests.views.hostile import TEXTS, hostile_record

_SENTENCE = "`h[1:2] = 3.3` (cell 4, line 8) modified what `y = h**2` saved."


def _finding(**values: object) -> Finding:
    made = {
        "kind": "inplace-modified",
        "severity": "error",
        "message": _SENTENCE,
        "advice": "Write `h = h.clone()` first.",
        "file": "/tmp/ipykernel_1/4.py",
        "line": 8,
        "cell": 4,
        "code": "",
        "op": -1,
        "grad_node": -1,
        "marks": (),
    }
    return Finding(**{**made, **values})  # type: ignore[arg-type]


def _step() -> Record:
    w = RecordWriter()
    y = w.op("pow", w.op("full"))
    node = w.grad_node("PowGradNode", w.producer(y))
    w.backward(node, error="RuntimeError: (PermissionDenied) modified")
    return with_answers(w.record())


def _told(*findings: Finding) -> Record:
    return with_findings(_step(), findings)


def test_one_line_counts_by_severity_and_says_the_worst():
    record = _told(_finding(), _finding(severity="warning"), _finding(severity="warning"))
    assert finding_counts(record) == "1 error, 2 warnings"
    assert one_line(record).endswith(f" · 1 error, 2 warnings: {_SENTENCE}")


def test_without_findings_nothing_is_said():
    record = _told()
    assert one_line(record) == one_line(_step())
    assert summary_text(record) == summary_text(_step())
    assert svg_picture(record) == svg_picture(_step())
    assert fallback_html(record) == fallback_html(_step())


def test_the_summary_lists_findings_with_what_to_do():
    lines = summary_text(_told(_finding(), _finding(severity="info", message="Note."))).splitlines()
    at = lines.index("1 error, 1 note:")
    assert lines[at + 1 : at + 4] == [
        f"  ✕ {_SENTENCE}",
        "      Write `h = h.clone()` first.",
        "  ⓘ Note.",
    ]


@pytest.mark.parametrize("view", ["ladder", "forward", "backward"])
def test_the_picture_says_the_worst_finding(view):
    picture = svg_picture(_told(_finding(grad_node=0)), view=view)
    assert f"✕ {_SENTENCE}" in unescape(picture)
    # The finding says it better than the error does.
    assert "Backward failed" not in picture


def test_the_fallback_shows_the_worst_and_keeps_the_others_behind_a_click():
    others = [_finding(severity="warning", message=f"Other {i}.") for i in range(3)]
    html = fallback_html(_told(_finding(), *others))
    head, _, rest = html.partition("<details>")
    assert "<code>h[1:2] = 3.3</code> (cell 4, line 8)" in head
    assert "<i>Cell 4, line 8</i>" in head
    assert "<summary>3 more findings</summary>" in rest
    assert all(f"Other {i}." in rest for i in range(3))


def test_texts_of_a_foreign_trace_stay_text():
    findings = [_finding(message=text, advice=f"a `{text}", file=text, cell=None) for text in TEXTS]
    record = with_findings(with_answers(hostile_record()), findings)
    for page in (fallback_html(record), svg_picture(record)):
        assert "<img src=x" not in page
        assert "<script" not in page
