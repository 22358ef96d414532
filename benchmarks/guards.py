"""Our trace compared with Paddle's own guards on a real GPT: overhead, and time to a picture.

``python benchmarks/guards.py [--quick] [--json FILE]``. Forward: ours against
``capture_forward_subgraph_guard``, which needs the ``graphviz`` package (taken from the environment
of ``BENCH_PYTHON``) and its ``dot`` program. Forward and backward: ours against
``backward(dump_backward_graph_path=...)``. The best of up to three; a run that exceeds the limit is
"timeout". The guard draws the picture when it ends, so its time includes the picture.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

# This file is run by its path: add the repository, which has the modules it needs, to the path.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.figures import Figure, Figures, options

if TYPE_CHECKING:
    import paddle

WAYS = ("Paddle Lab", "capture_forward_subgraph_guard", "dump_backward_graph_path")
_ENOUGH_S = 20


def measured(way: str, blocks: int) -> dict[str, float]:
    """Return the seconds of plain runs, and of runs that make and draw a graph."""
    import paddle

    from benchmarks.gpt import GPT

    paddle.seed(0)
    net, ids = GPT(blocks), paddle.randint(0, 100, [1, 16])
    times: dict[str, float] = {}

    def forward_and_backward() -> None:
        net(ids).mean().backward()

    times["plain forward"] = _best(lambda: net(ids))
    times["plain both"] = _best(forward_and_backward)
    for _ in _turns():
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if way == "Paddle Lab":
                _least(times, _traced(folder, lambda: net(ids), "forward"))
                _least(times, _traced(folder, forward_and_backward, "both"))
            elif way == "capture_forward_subgraph_guard":
                _least(times, _guarded(folder, lambda: net(ids)))
            else:
                _least(times, _dumped(folder, lambda: net(ids).mean()))
    return times


def _turns() -> Iterator[int]:
    begin = time.perf_counter()
    for turn in range(3):
        if turn == 0 or time.perf_counter() - begin < _ENOUGH_S:
            yield turn


def _least(times: dict[str, float], found: dict[str, float]) -> None:
    for name, value in found.items():
        times[name] = min(value, times.get(name, value))


def _traced(folder: Path, run: Callable[[], object], name: str) -> dict[str, float]:
    import paddle_lab

    begin = time.perf_counter()
    with paddle_lab.trace() as trace:
        result = run()
    captured_s = time.perf_counter() - begin
    trace.to_html(folder / "page.html")
    del result
    return {name: captured_s, f"{name}, picture": time.perf_counter() - begin}


def _guarded(folder: Path, run: Callable[[], object]) -> dict[str, float]:
    from paddle.utils import capture_forward_subgraph_guard

    begin = time.perf_counter()
    with capture_forward_subgraph_guard(str(folder / "forward")):
        run()
    whole_s = time.perf_counter() - begin
    found = {"forward": whole_s}
    if any(folder.rglob("*.svg")):
        found["forward, picture"] = whole_s
    return found


def _dumped(folder: Path, run: Callable[[], paddle.Tensor]) -> dict[str, float]:
    begin = time.perf_counter()
    run().backward(dump_backward_graph_path=str(folder))
    found = {"both": time.perf_counter() - begin}
    dots = list(folder.rglob("*.dot"))
    for dot in dots:
        command = ["dot", "-Tsvg", str(dot), "-o", str(dot.with_suffix(".svg"))]
        subprocess.run(command, check=True)
    if dots:
        found["both, picture"] = time.perf_counter() - begin
    return found


def _best(run: Callable[[], object]) -> float:
    times_s = []
    for _ in range(8):
        begin = time.perf_counter()
        run()
        times_s.append(time.perf_counter() - begin)
    return min(times_s)


def in_its_own_process(way: str, blocks: int, *, limit_s: float) -> dict[str, float] | str:
    """Return the result of :func:`measured` in a new process, or why there is none."""
    code = (
        f"import sys; sys.path[:0] = {[str(Path(__file__).parents[1]), *_graphviz_package()]!r}; "
        "from benchmarks.guards import measured; import json; "
        f"print(json.dumps(measured({way!r}, {blocks})))"
    )
    # Paddle's guard runs dot, which would outlive it: end both together, as one session.
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        printed, errors = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        return f"timeout after {limit_s:.0f} s"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.returncode:
        last = errors.strip().splitlines()[-1:] or [f"exit code {process.returncode}"]
        return f"failed: {last[0][:100]}"
    times: dict[str, float] = json.loads(printed.strip().splitlines()[-1])
    return times


def _graphviz_package() -> list[str]:
    """Return a folder with only the ``graphviz`` package of the other environment."""
    python = os.environ.get("BENCH_PYTHON")
    if not python:
        return []
    code = "import graphviz; print(graphviz.__path__[0])"
    found = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    if found.returncode:
        return []
    folder = Path(tempfile.mkdtemp())
    (folder / "graphviz").symlink_to(found.stdout.strip())
    return [str(folder)]


def main() -> None:
    warnings.simplefilter("ignore")
    parser = options(__doc__)
    parser.add_argument("--limit", type=float, default=120, help="seconds for a way")
    given = parser.parse_args()
    # If this process is ended, also end the processes that it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    figures = Figures(given.json)
    for blocks in (4,) if given.quick else (12, 96):
        subject = f"gpt-{blocks}"
        for way in WAYS:
            times = in_its_own_process(way, blocks, limit_s=given.limit)
            if isinstance(times, str):
                figures.add(Figure(subject, "graph captured", way, note=times))
                continue
            for kind, title in (("forward", "forward"), ("both", "forward and backward")):
                plain_s = times[f"plain {kind}"]
                if kind in times:
                    figures.add(
                        Figure(subject, f"{title}: time to plain", way, times[kind] / plain_s, "x")
                    )
                if f"{kind}, picture" in times:
                    drawn_s = times[f"{kind}, picture"]
                    figures.add(
                        Figure(subject, f"{title}: until a file to look at", way, drawn_s, "s")
                    )
    figures.print_table()


if __name__ == "__main__":
    main()
