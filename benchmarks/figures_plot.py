"""The comparison with other tools as pictures, one for light pages and one for dark.

``python benchmarks/figures_plot.py [FIGURES.json [FOLDER]]`` writes ``figures.light.svg`` and
``figures.dark.svg``. Needs matplotlib.
"""

from __future__ import annotations

import sys
from pathlib import Path

# This file is run by its path: add the repository, which has the modules it needs, to the path.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import matplotlib as mpl

mpl.use("svg")
from matplotlib import pyplot

from benchmarks.figures import Figure
from benchmarks.figures_page import OURS, compared, read_run

INKS = {"light": "#1f2328", "dark": "#e6edf3"}
# Different in hue and lightness on both backgrounds; the marks differ as well.
STYLES = {
    OURS: ("#2f81f7", "o"),
    "Model Explorer": ("#db6d28", "s"),
    "Netron": ("#3fb950", "^"),
    "dot": ("#a371f7", "D"),
    "ELK": ("#d29922", "v"),
    "dagre": ("#8b949e", "P"),
    "capture_forward_subgraph_guard": ("#f85149", "X"),
    "dump_backward_graph_path": ("#f778ba", "*"),
}
_IN_SECONDS = {"s": 1.0, "ms": 1e-3}


def seconds(figure: Figure) -> float | None:
    """Return a time in seconds; ``None`` if the value is no time or was not measured."""
    if figure.value is None or figure.unit not in _IN_SECONDS:
        return None
    return figure.value * _IN_SECONDS[figure.unit]


def draw(rows: list[Figure], path: Path, *, ink: str) -> None:
    """Draw a row for each graph and figure, with the times of all tools on a logarithmic scale."""
    table = {
        key: tools
        for key, tools in compared(rows).items()
        if any(seconds(figure) is not None for figure in tools.values())
    }
    known = [value for tools in table.values() for f in tools.values() if (value := seconds(f))]
    failed_at = max(known, default=1.0) * 4
    mpl.rcParams.update(
        {"text.color": ink, "axes.labelcolor": ink, "xtick.color": ink, "ytick.color": ink}
    )
    mpl.rcParams.update({"axes.edgecolor": ink, "svg.fonttype": "none", "svg.hashsalt": "figures"})
    picture, axes = pyplot.subplots(figsize=(9, 1.4 + 0.3 * len(table)))
    for row, tools in enumerate(table.values()):
        axes.axhline(row, color=ink, alpha=0.12, linewidth=0.8)
        failures = 0
        for tool, figure in tools.items():
            colour, mark = STYLES.get(tool, (ink, "."))
            at = seconds(figure)
            failures += at is None
            x = failed_at * 1.6 ** (failures - 1) if at is None else at
            fill = "none" if at is None else colour
            axes.plot(
                [x], [row], mark, color=colour, markersize=7, markerfacecolor=fill, linestyle="none"
            )
    axes.axvline(failed_at / 1.8, color=ink, alpha=0.4, linestyle=":")
    axes.set_xscale("log")
    axes.set_xlabel("seconds (logarithmic); hollow, right of the dots: timeout, crash, not reached")
    axes.set_yticks(range(len(table)), [f"{subject}: {what}" for subject, what in table])
    axes.set_ylim(len(table) - 0.5, -0.5)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
    present = {tool for tools in table.values() for tool in tools}
    for tool, (colour, mark) in STYLES.items():
        if tool in present:
            axes.plot([], [], mark, color=colour, label=tool, linestyle="none")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, frameon=False)
    picture.savefig(path, transparent=True, bbox_inches="tight", metadata={"Date": None})
    pyplot.close(picture)


def main() -> None:
    folder = Path(__file__).parent
    stored = Path(sys.argv[1]) if len(sys.argv) > 1 else folder / "figures.json"
    target = Path(sys.argv[2]) if len(sys.argv) > 2 else folder
    rows = read_run(stored).rows
    if not compared(rows):
        sys.exit("no figure that several tools have; nothing to draw")
    for theme, ink in INKS.items():
        draw(rows, target / f"figures.{theme}.svg", ink=ink)


if __name__ == "__main__":
    main()
