"""Where npm put speedscope, whose own page reads our files."""

from __future__ import annotations

from pathlib import Path

RELEASE = Path(__file__).parents[2] / "js/node_modules/speedscope/dist/release"
