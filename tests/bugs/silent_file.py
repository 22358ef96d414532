"""Programs with one silent error each, and their mended twins, from one file.

The line to change ends in ``# WRONG``, or the comment ``#- WRONG`` is above it; a line that is as
good a place ends in ``# OR``. In the twin, a comment ``#= code`` replaces the line above it,
``#+ code`` is added, and a wrong line without ``#=`` is left out.
"""

from __future__ import annotations

import re
from pathlib import Path

import paddle_lab
from paddle_lab import Trace

PROGRAMS = sorted((Path(__file__).parent / "silent").glob("*/*.py"))
TRAINCHECK = sorted((Path(__file__).parent / "traincheck").glob("*.py"))
"""Cases of TrainCheck (OSDI '25) that can be had in one process."""


def marked(path: Path) -> set[int]:
    """Return the numbers of the lines that may be named."""
    lines = path.read_text(encoding="utf-8").splitlines()
    good = {at for at, line in enumerate(lines, 1) if re.search(r"# (WRONG|OR)$", line)}
    return good | {at + 1 for at, line in enumerate(lines, 1) if line.strip() == "#- WRONG"}


def mended(text: str) -> str:
    """Return the text of the twin."""
    kept: list[str] = []
    for line in text.splitlines():
        body = line.strip()
        if body.startswith("#= "):
            kept[-1] = line.replace("#= ", "", 1)
        else:
            kept.append(line.replace("#+ ", "", 1) if body.startswith("#+ ") else line)
    return "\n".join(line for line in kept if not line.endswith("# WRONG")) + "\n"


def run(text: str, name: str, check: str | None = None) -> Trace:
    """Run a program as a traced cell."""
    code = compile(text, name, "exec")
    with paddle_lab.trace(check=check) as trace:
        exec(code, {"__name__": "__main__"})
    return trace
