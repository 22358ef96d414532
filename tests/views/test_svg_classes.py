"""Repeated attributes become classes, and the picture looks the same."""

from __future__ import annotations

from xml.etree import ElementTree

from paddle_lab.views.svg.writer import with_classes

_PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="9">'
    '<path d="M0 0" fill="none" stroke="#123456"/><path d="M1 1" fill="none" stroke="#123456"/>'
    '<text x="1" font-size="11" fill="#000000">fill="none" stroke="#123456"</text>'
    '<text x="2" font-size="11" fill="#000000">b</text><rect fill="#ffffff"/></svg>'
)


def test_repeated_attributes_become_rules_with_units() -> None:
    root = ElementTree.fromstring(with_classes(_PICTURE))
    style, first, second, text, other, single = root
    rules = style.text or ""
    assert first.get("class") == second.get("class")
    assert f".{first.get('class')}{{fill:none;stroke:#123456}}" in rules
    assert f".{text.get('class')}{{font-size:11px;fill:#000000}}" in rules
    assert text.get("class") == other.get("class")
    assert "stroke" not in first.attrib
    assert single.get("fill") == "#ffffff"


def test_text_that_looks_like_attributes_stays() -> None:
    # Text in a picture is escaped, so its quotation marks are no attribute's.
    escaped = _PICTURE.replace('>fill="none" stroke="#123456"<', "> fill=&quot;none&quot; <")
    root = ElementTree.fromstring(with_classes(escaped))
    assert root[3].text == ' fill="none" '
