"""The checks as a table."""

from __future__ import annotations

import pytest

import paddle_lab
from paddle_lab import words as spoken
from paddle_lab.analysis.findings.registry import checks


@pytest.mark.parametrize("speaks", ["en", "zh"])
def test_every_check_is_listed_in_the_language_that_is_spoken(speaks, monkeypatch):
    monkeypatch.setattr(spoken, "_chosen", speaks)
    listed = paddle_lab.checks()
    assert [check.kind for check in listed] == list(checks())
    text, html = repr(listed), listed._repr_html_()
    for check in checks().values():
        for shown in (check.kind, check.title[1:]):
            assert shown in text
        assert f">{check.kind}</td>" in html
    assert ("looks for" in html) == (speaks == "en")


def test_what_costs_something_is_off_unless_asked_for():
    rows = repr(paddle_lab.checks()).splitlines()
    for check in checks().values():
        (start,) = (i for i, row in enumerate(rows) if row.startswith(f"{check.kind}: "))
        is_on = rows[start + 2].strip().endswith(("yes", "是"))
        assert is_on == (set(check.needs) <= {"events"})
