"""The layout of the same graphs by us, Graphviz's dot, ELK and dagre.

``python benchmarks/layouts.py [--quick] [--json FILE] [--limit S]`` lays out each tape once,
without groups, in a new process that is not warmed up, as in a page. dot's time is that of the
whole program including its SVG; for the others it is only the layout. ``BENCH_NODE`` is the folder
whose ``node_modules`` have elkjs and @dagrejs/dagre.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# This file is run by its path: add the repository, which has the modules it needs, to the path.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.exported_graph import ExportedGraph, exported, write_dot, write_neutral
from benchmarks.figures import Figure, Figures, options
from benchmarks.tapes import tape

SUBJECTS = ("chain-5000", "residual-1000", "attention-1000", "attention-5000", "hub-10000")
QUICK_SUBJECTS = ("chain-5000", "residual-1000")
TOOLS = ("Paddle Lab", "dot", "ELK", "dagre")
_OURS_WITHIN_MS = {"hub-10000": 1_000.0}


class LayoutError(Exception):
    """Raised if there is no layout, with a short reason."""


def laid_out_ms(tool: str, dot: Path, neutral: Path, *, limit_s: float) -> float:
    """Return the time of a layout.

    Raises
    ------
    LayoutError
        If it takes longer than the limit, or ends in an error.
    """
    if tool == "dot":
        program = shutil.which("dot")
        if program is None:
            raise LayoutError("not installed")
        command = [program, "-Tsvg", str(dot), "-o", str(dot.with_suffix(".svg"))]
    else:
        command = ["node", str(Path(__file__).with_name("layout_alone.mjs")), tool, str(neutral)]
    begin = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)
    except subprocess.TimeoutExpired:
        raise LayoutError(f"timeout after {limit_s:.0f} s") from None
    whole_ms = (time.perf_counter() - begin) * 1e3
    if done.returncode:
        raise LayoutError(_reason(done.stderr, done.returncode))
    return whole_ms if tool == "dot" else float(done.stdout)


def _reason(errors: str, code: int) -> str:
    # The other tools' code is one long line, which Node prints above the error.
    named = [line for line in errors.splitlines() if "Error:" in line and len(line) < 200]
    return f"crash: {named[0].strip()}" if named else f"crash: exit code {code}"


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("subjects", nargs="*", help="names of tapes")
    parser.add_argument("--limit", type=float, default=60, help="seconds for a layout")
    given = parser.parse_args()
    limit_s = min(given.limit, 15) if given.quick else given.limit
    figures = Figures(given.json)
    for subject in given.subjects or (QUICK_SUBJECTS if given.quick else SUBJECTS):
        graph = exported(tape(subject))
        flat = ExportedGraph(graph.labels, [""] * len(graph.groups), graph.edges)
        with tempfile.TemporaryDirectory() as name:
            dot = write_dot(flat, Path(name) / "graph.dot")
            neutral = write_neutral(flat, Path(name) / "graph.json")
            for tool in TOOLS:
                value_ms, note = None, ""
                try:
                    value_ms = laid_out_ms(tool, dot, neutral, limit_s=limit_s)
                except LayoutError as failure:
                    note = str(failure)
                bar = _OURS_WITHIN_MS.get(subject) if tool == "Paddle Lab" else None
                figures.add(Figure(subject, "layout alone", tool, value_ms, "ms", bar, note=note))
    figures.print_table()


if __name__ == "__main__":
    main()
