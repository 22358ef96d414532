"""The path of speedscope's own page, which npm installed; it opens our files."""

from __future__ import annotations

from pathlib import Path

RELEASE = Path(__file__).parents[2] / "js/node_modules/speedscope/dist/release"
