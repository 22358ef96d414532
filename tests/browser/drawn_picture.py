"""The texts and outlines that a graph's canvas drew, and texts that are cut or overlap."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

SCRIPT = Path(__file__).with_suffix(".js")
"""Runs in a page before its own scripts."""

_LEAST_TEXT_PX = 10
# Anything higher is a frame around boxes. It may extend below the lower edge of the view.
_HIGHEST_BOX_PX = 100
_TOLERANCE_PX = 1.5


class Place(TypedDict):
    """Sides in px of the canvas; ``step`` counts what is drawn, the last on top."""

    left: float
    right: float
    top: float
    bottom: float
    step: int


class Text(Place):
    """Words, and their font's size on the screen."""

    text: str
    px: float


class Outline(Place):
    """A box, a chip or a frame; ``height`` is that of the layout."""

    height: float


class Drawn(TypedDict):
    """One picture."""

    width: float
    height: float
    texts: list[Text]
    outlines: list[Outline]


def drawn(page: Page) -> Drawn:
    """Return what the page's picture shows now."""
    picture: Drawn = page.evaluate("window.drawn")
    return picture


def complaints(picture: Drawn) -> list[str]:
    """Return the parts that cannot be read, are cut by the view's edges, or cover other parts."""
    width, height = picture["width"], picture["height"]
    texts = [text for text in picture["texts"] if _is_seen(text, width, height)]
    outlines = [outline for outline in picture["outlines"] if _is_seen(outline, width, height)]
    found = [
        f"too small: {t['text']} ({t['px']:.1f} px)" for t in texts if t["px"] < _LEAST_TEXT_PX
    ]
    found += [f"cut: {t['text']}" for t in texts if _is_cut(t, width, height)]
    for outline in outlines:
        is_box = outline["height"] < _HIGHEST_BOX_PX
        if _is_cut(outline, width, height if is_box else float("inf")):
            found.append(f"cut: {'box' if is_box else 'frame'} of {outline['height']:.0f} px")
    found += [
        f"on each other: {a['text']} and {b['text']}"
        for a, b in combinations(texts, 2)
        if _overlap(a, b)
    ]
    return found + list(_under_edges(texts, outlines))


def _under_edges(texts: list[Text], outlines: list[Outline]) -> Iterator[str]:
    for text in texts:
        for outline in outlines:
            if _overlap(text, outline):
                if not _is_inside(text, outline):
                    yield f"on an edge: {text['text']}"
                elif outline["step"] > text["step"]:
                    yield f"under a box: {text['text']}"


def _is_seen(place: Place, width: float, height: float) -> bool:
    return (
        place["right"] > 0
        and place["left"] < width
        and place["bottom"] > 0
        and place["top"] < height
    )


def _is_cut(place: Place, width: float, height: float) -> bool:
    return (
        place["left"] < -_TOLERANCE_PX
        or place["top"] < -_TOLERANCE_PX
        or place["right"] > width + _TOLERANCE_PX
        or place["bottom"] > height + _TOLERANCE_PX
    )


def _overlap(a: Place, b: Place) -> bool:
    return (
        min(a["right"], b["right"]) - max(a["left"], b["left"]) > _TOLERANCE_PX
        and min(a["bottom"], b["bottom"]) - max(a["top"], b["top"]) > _TOLERANCE_PX
    )


def _is_inside(inner: Place, outer: Place) -> bool:
    return (
        inner["left"] >= outer["left"] - _TOLERANCE_PX
        and inner["right"] <= outer["right"] + _TOLERANCE_PX
        and inner["top"] >= outer["top"] - _TOLERANCE_PX
        and inner["bottom"] <= outer["bottom"] + _TOLERANCE_PX
    )
