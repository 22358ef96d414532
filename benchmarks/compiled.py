"""What Paddle's log adds to a traced cell, and how long a saved program of 10,000 ops takes.

``python benchmarks/compiled.py [--quick] [--json FILE]`` prints a Markdown table. All figures are
CPU times, the least of several alternating runs.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.figures import Figure, Figures, options

LOG_BAR, PROGRAM_BAR_S = 1.3, 0.5
LEVEL = 3
_OPS = 10_000


def least_s(ways: dict[str, Callable[[], object]], turns: int) -> dict[str, float]:
    """Return the minimum CPU time of each way, in seconds."""
    found = dict.fromkeys(ways, float("inf"))
    for turn in range(turns + 1):
        for name, run in ways.items():
            begin_s = time.process_time()
            run()
            if turn:  # the first run only warms up
                found[name] = min(found[name], time.process_time() - begin_s)
    return found


@contextmanager
def level_by_hand() -> Iterator[None]:
    """Set the log level as a user does, and write file descriptor 2 to a file."""
    import paddle

    with TemporaryFile() as file, paddle.base.framework.vlog_guard(LEVEL):
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def log_ratio(turns: int, ops: int) -> tuple[float, str]:
    """Return the ratio of the time with the log to that with a level set by hand; all times."""
    import paddle

    import paddle_lab

    layer, x = paddle.nn.Linear(64, 64), paddle.ones([4, 64])
    inside_s = [float("inf")]

    def cell() -> None:
        y = x
        for _ in range(ops // 3):
            y = paddle.nn.functional.relu(layer(y)) + x

    def with_level() -> None:
        with level_by_hand():
            cell()

    def traced_with_level() -> None:
        with paddle_lab.trace(), level_by_hand():
            cell()

    def log() -> None:
        with paddle_lab.trace(log=LEVEL):
            begin_s = time.process_time()
            cell()
            inside_s.append(time.process_time() - begin_s)

    found_s = least_s(
        {"plain": cell, "level": with_level, "trace and level": traced_with_level, "log": log},
        turns,
    )
    found_s["its cell alone"] = min(inside_s)
    note = ", ".join(f"{name} {value * 1e3:.1f} ms" for name, value in found_s.items())
    return found_s["log"] / found_s["trace and level"], note


def program_s(turns: int, ops: int) -> float:
    """Return the time to turn a saved program's file into the payload of a page."""
    import paddle

    import paddle_lab

    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        y = paddle.ones([4, 8])
        with paddle_lab.trace() as trace:
            for _ in range(ops):
                y = paddle.tanh(y)
        trace.to_netron(path)
        return least_s({"read": lambda: paddle_lab.program(path).payload()}, turns)["read"]


def main() -> None:
    given = options(__doc__ or "").parse_args()
    figures = Figures(given.json)
    turns = 2 if given.quick else 15
    for ops in (300,) if given.quick else (300, 3000):
        ratio, note = log_ratio(turns, ops)
        what = f"a {ops:,}-op cell with `--log 3` to the same with the level set by hand, CPU time"
        figures.add(Figure("Paddle's log", what, value=ratio, unit="x", bar=LOG_BAR, note=note))
    ops = 1000 if given.quick else _OPS
    value = program_s(2 if given.quick else 5, ops)
    what = "from the file to what the page draws, CPU time"
    figures.add(Figure(f"a program of {ops:,} ops", what, value=value, bar=PROGRAM_BAR_S))
    figures.print_table()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
