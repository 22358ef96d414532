"""Equal styles are written once, in a style sheet, and the picture looks the same."""

from __future__ import annotations

from xml.etree import ElementTree

from paddle_lab.views.svg.palette import PALETTES
from paddle_lab.views.svg.writer import Span, SvgWriter

_SVG = "{http://www.w3.org/2000/svg}"


def _picture(*, has_style_sheet: bool) -> ElementTree.Element:
    svg = SvgWriter(PALETTES["light"], has_style_sheet=has_style_sheet)
    svg.path("M0 0", stroke="#123456")
    svg.path("M1 1", stroke="#123456")
    svg.text(1, 1, Span('fill="none" <b>', 11, "#000000"), Span("b", 11, "#000000"))
    return ElementTree.fromstring(svg.document(20, 9, title="a"))


def test_equal_styles_become_one_rule_with_units() -> None:
    root = _picture(has_style_sheet=True)
    rules = root.findtext(f"{_SVG}style") or ""
    first, second = root.findall(f"{_SVG}path")
    text, other = root.iter(f"{_SVG}tspan")
    assert first.get("class") == second.get("class")
    assert f".{first.get('class')}{{fill:none;stroke:#123456}}" in rules
    assert f".{text.get('class')}{{font-size:11px;fill:#000000}}" in rules
    assert text.get("class") == other.get("class")
    assert "stroke" not in first.attrib
    assert text.text == 'fill="none" <b>'


def test_without_a_style_sheet_the_same_styles_are_attributes() -> None:
    root = _picture(has_style_sheet=False)
    assert root.find(f"{_SVG}style") is None
    first, _ = root.findall(f"{_SVG}path")
    text, _ = root.iter(f"{_SVG}tspan")
    assert (first.get("fill"), first.get("stroke")) == ("none", "#123456")
    assert (text.get("font-size"), text.get("fill"), text.get("class")) == ("11", "#000000", None)
