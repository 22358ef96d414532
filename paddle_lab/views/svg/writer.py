"""Writes SVG as text. Every string from a trace passes through :func:`xml_text`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html import escape

from paddle_lab.views.svg.palette import Palette

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NARROW, _WIDE = frozenset("iljI.,:;'|!()[]{} ftr·"), frozenset("mwMW@%")


def xml_text(text: str) -> str:
    """Return text for XML: escaped, and without characters that XML forbids."""
    return escape(_NOT_IN_XML.sub("\ufffd", text), quote=True)


def text_width_px(text: str, size_px: float) -> float:
    """Estimate a text's width in a common sans serif font; rather too much than too little."""
    width = 0.0
    for character in text:
        if character in _NARROW:
            width += 0.36
        elif character in _WIDE:
            width += 0.92
        elif ord(character) > 0x2030:
            width += 1.05  # Chinese, symbols, arrows
        elif character.isupper():
            width += 0.7
        else:
            width += 0.6
    return width * size_px


def shorten(text: str, width_px: float, size_px: float) -> str:
    """Return as much of a text as fits. An ellipsis marks that it was cut."""
    text = " ".join(text.split())
    if text_width_px(text, size_px) <= width_px:
        return text
    if width_px < text_width_px("…", size_px):
        return ""
    # A text with more characters than this cannot fit, even if they are all narrow.
    end = min(len(text), int(width_px / size_px / 0.3) + 1)
    while end and text_width_px(text[:end] + "…", size_px) > width_px:
        end -= 1
    return text[:end].rstrip() + "…"


@dataclass(frozen=True)
class Span:
    """A part of a line of text that has one size and one colour."""

    text: str
    size_px: float
    colour: str
    is_bold: bool = False

    def fitted(self, width_px: float) -> Span:
        """Return this span with as much of the text as fits."""
        width_px = width_px / 1.08 if self.is_bold else width_px
        return replace(self, text=shorten(self.text, width_px, self.size_px))

    @property
    def width_px(self) -> float:
        """The estimated width of the text."""
        return text_width_px(self.text, self.size_px) * (1.08 if self.is_bold else 1)


class SvgWriter:
    """Collects the elements of a picture in the order in which they are painted.

    Parameters
    ----------
    colours
        The colours for painting.
    """

    def __init__(self, colours: Palette) -> None:
        self.colours = colours
        self._elements: list[str] = []

    def rect(
        self, x: float, y: float, width: float, height: float, *, radius: float = 6, **style: object
    ) -> None:
        """Add a rectangle."""
        size = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}"'
        self._elements.append(f"<rect {size}{_look(style)}/>")

    def path(self, data: str, **style: object) -> None:
        """Add a line."""
        self._elements.append(f'<path d="{data}"{_look({"fill": "none", **style})}/>')

    def text(self, x: float, y: float, *spans: Span, tooltip: str = "", **style: object) -> None:
        """Add a line of text. ``y`` is the baseline. The spans follow one another."""
        title = f"<title>{xml_text(tooltip)}</title>" if tooltip else ""
        parts = []
        for i, span in enumerate(span for span in spans if span.text):
            shown = {"font_size": span.size_px, "fill": span.colour}
            shown["font_weight"] = 600 if span.is_bold else None
            gap = ' dx="7"' if i else ""
            parts.append(f"<tspan{gap}{_look(shown)}>{xml_text(span.text)}</tspan>")
        where = f'x="{x:g}" y="{y:g}"'
        self._elements.append(f"<text {where}{_look(style)}>{title}{''.join(parts)}</text>")

    def document(self, width: float, height: float, *, title: str) -> str:
        """Return the whole picture as text."""
        size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
        return "\n".join(
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{FONT}" role="img">',
                f"<title>{xml_text(title)}</title>",
                f'<rect width="{width:g}" height="{height:g}" fill="{self.colours.ground}"/>',
                *self._elements,
                "</svg>",
            )
        )


def _look(style: dict[str, object]) -> str:
    """Return a style as attributes."""
    known = {name.replace("_", "-"): value for name, value in style.items() if value is not None}
    return "".join(f' {name}="{_text(value)}"' for name, value in known.items())


def _text(value: object) -> str:
    return xml_text(format(value, "g") if isinstance(value, float) else str(value))
