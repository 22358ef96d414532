"""Smaller SVG: presentation attributes that repeat become classes of one style sheet."""

from __future__ import annotations

import re
from collections import Counter

_NAMES = "fill|stroke|stroke-width|stroke-dasharray|font-size|font-weight|text-anchor|opacity"
_RUN = re.compile(rf'(?: (?:{_NAMES})="[^"]*")+')
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
_ROOT = re.compile(r"<svg\b[^>]*>")


def with_classes(picture: str) -> str:
    """Return an SVG document that looks the same and repeats itself less.

    Parameters
    ----------
    picture
        A document of :func:`~paddle_lab.views.svg.picture.svg_picture`; it has no classes.
    """
    counted = Counter(_RUN.findall(picture))
    classes = {
        run: f"c{number}" for number, (run, count) in enumerate(counted.most_common()) if count > 1
    }
    rules = "".join(f".{name}{{{_declarations(run)}}}" for run, name in classes.items())
    body = _RUN.sub(
        lambda match: f' class="{classes[match[0]]}"' if match[0] in classes else match[0], picture
    )
    return _ROOT.sub(lambda root: f"{root[0]}<style>{rules}</style>", body, count=1)


def _declarations(run: str) -> str:
    # In a style sheet a font size needs a unit; in an attribute it does not.
    return ";".join(
        f"{name}:{value}px" if name == "font-size" else f"{name}:{value}"
        for name, value in _ATTRIBUTE.findall(run)
    )
