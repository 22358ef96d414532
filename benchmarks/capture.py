"""What a trace costs: ratios of traced to plain time, measured alternately in one run.

``python benchmarks/capture.py [--quick] [--json FILE]`` prints Markdown tables. Times are medians
of repeats that alternate between the ways to run, so that other work on the machine affects all
ways alike. The cost of entering and leaving a trace is reported separately from the cost per op.
The ratio of CPU time is also valid on a busy machine. Paddle's own guard, for comparison, needs the
``graphviz`` package and its ``dot`` program.
"""

from __future__ import annotations

import gc
import importlib.util
import shutil
import statistics
import subprocess
import sys
import tempfile
import tracemalloc
import warnings
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.figures import Figure, Figures, options

Work = Callable[[], Any]
Guard = Callable[[], AbstractContextManager[Any]]

LOAD_EXTENSION = """
import time
import paddle
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
before = time.perf_counter()
shell.run_line_magic("load_ext", "paddle_lab")
print("load_ext took", (time.perf_counter() - before) * 1e3)
"""


class Timing:
    """The seconds for the work inside a guard, and for entering and leaving the guard."""

    def __init__(self) -> None:
        self.work_s: list[float] = []
        self.work_cpu_s: list[float] = []
        self.enter_s: list[float] = []
        self.leave_s: list[float] = []

    def measure(self, guard: Guard, work: Work, runs: int) -> None:
        begin = perf_counter()
        with guard():
            entered, entered_cpu = perf_counter(), process_time()
            for _ in range(runs):
                work()
            worked, worked_cpu = perf_counter(), process_time()
        left = perf_counter()
        self.enter_s.append(entered - begin)
        self.work_s.append((worked - entered) / runs)
        self.work_cpu_s.append((worked_cpu - entered_cpu) / runs)
        self.leave_s.append(left - worked)


def in_turns(ways: dict[str, Guard], work: Work, *, repeats: int, runs: int) -> dict[str, Timing]:
    """Run ``work`` alternately in every way, several times, and return the timings."""
    timings = {way: Timing() for way in ways}
    for guard in ways.values():  # objects made on first use
        Timing().measure(guard, work, 1)
    for _ in range(repeats):
        for way, guard in ways.items():
            timings[way].measure(guard, work, runs)
    return timings


def small_layers() -> Work:
    """Return the forward pass of 100 blocks (Linear, ReLU, add), width 64: 300 ops."""
    import paddle
    from paddle import nn

    linears = [nn.Linear(64, 64) for _ in range(100)]
    activation = nn.ReLU()
    data = paddle.rand([8, 64])

    def forward() -> None:
        hidden = data
        for linear in linears:
            hidden = activation(linear(hidden)) + hidden

    return forward


def resnet18() -> Work:
    """Return forward and backward of ResNet-18 on four pictures of 224 px."""
    import paddle

    network = paddle.vision.models.resnet18()
    images = paddle.rand([4, 3, 224, 224])

    def step() -> None:
        network(images).mean().backward()
        network.clear_gradients()

    return step


def load_extension_ms(repeats: int) -> list[float]:
    """Return the time that ``%load_ext paddle_lab`` takes once Paddle is imported."""
    return [
        float(
            subprocess.run(
                [sys.executable, "-W", "ignore", "-c", LOAD_EXTENSION],
                capture_output=True,
                text=True,
                check=True,
            )
            .stdout.rpartition("load_ext took")[2]
            .split()[0]
        )
        for _ in range(repeats)
    ]


def paddles_guard(folder: Path) -> Guard:
    """Return Paddle's own guard, which draws a static picture of the forward graph."""
    from paddle.utils import capture_forward_subgraph_guard

    return lambda: capture_forward_subgraph_guard(str(folder / "forward"))


def median_ms(seconds: Iterable[float]) -> float:
    return statistics.median(seconds) * 1e3


def print_traced(
    figures: Figures, what: str, work: Work, *, repeats: int, runs: int, bar: float
) -> None:
    import paddle_lab

    ways: dict[str, Guard] = {"plain": nullcontext, "traced": paddle_lab.trace}
    timings = in_turns(ways, work, repeats=repeats, runs=runs)
    plain, traced = timings["plain"], timings["traced"]
    plain_ms, traced_ms = median_ms(plain.work_s), median_ms(traced.work_s)
    cpu_ratio = median_ms(traced.work_cpu_s) / median_ms(plain.work_cpu_s)
    figures.add(Figure(what, "traced to plain time", value=traced_ms / plain_ms, unit="x", bar=bar))
    print(
        f"| {what} | {plain_ms:.2f} ms | {traced_ms:.2f} ms | {traced_ms / plain_ms:.2f} "
        f"| {cpu_ratio:.2f} | {bar} "
        f"| {median_ms(traced.enter_s):.0f} ms, {median_ms(traced.leave_s):.0f} ms |"
    )


def print_paddles_guard() -> None:
    with tempfile.TemporaryDirectory() as folder:
        ways: dict[str, Guard] = {"plain": nullcontext, "guard": paddles_guard(Path(folder))}
        timings = in_turns(ways, small_layers(), repeats=3, runs=1)
    plain_ms, guard = median_ms(timings["plain"].work_s), timings["guard"]
    guard_ms = median_ms(map(sum, zip(guard.work_s, guard.leave_s, strict=True)))
    print(
        f"| the same forward pass, Paddle's `capture_forward_subgraph_guard` | {plain_ms:.2f} ms "
        f"| {guard_ms:.2f} ms | {guard_ms / plain_ms:.0f} | | | with its picture |"
    )


def queryable(blocks: int, *, is_step: bool) -> tuple[float, float, int]:
    """Return the CPU seconds of a plain run, and of a traced run until the trace can be read.

    Both are the minimum of several alternating runs. The last value is the number of ops.
    """
    import paddle_lab
    from benchmarks.gpt import work

    run = work(blocks, is_step=is_step)
    plain_s: list[float] = []
    traced_s: list[float] = []
    for _ in range(5 if blocks < 200 else 3):
        begin = process_time()
        run()
        plain_s.append(process_time() - begin)
        begin = process_time()
        with paddle_lab.trace() as trace:
            run()
        ops = len(trace.ops)
        assert trace.ops[5].stack
        traced_s.append(process_time() - begin)
    return min(plain_s), min(traced_s), ops


def leaving_us(blocks: int, *, is_step: bool) -> float:
    """Return the CPU time of leaving a trace, in microseconds per op."""
    import paddle_lab
    from benchmarks.gpt import work

    run = work(blocks, is_step=is_step)
    found: list[float] = []
    for _ in range(3):
        recording = paddle_lab.trace()
        trace = recording.__enter__()
        run()
        begin = process_time()
        recording.__exit__(None, None, None)
        found.append((process_time() - begin) / len(trace.record.ops) * 1e6)
    return min(found)


def held_bytes(steps: int) -> float:
    """Return the bytes per op that an open trace holds, without the last step's tensors."""
    import paddle_lab
    from benchmarks.gpt import work

    run = work(12, is_step=True)
    with paddle_lab.trace():
        run()
        gc.collect()
        tracemalloc.start()
        before, ops = tracemalloc.get_traced_memory()[0], _op_count()
        for _ in range(steps):
            run()
        gc.collect()
        held = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        return held / (_op_count() - ops)


def _op_count() -> int:
    from paddle_lab.capture.recorder.recorder import SINKS

    (recorder,) = SINKS.active
    return int(recorder.next_op.next)


def add_scale(figures: Figures, *, is_quick: bool) -> None:
    """Measure traces of a language model."""
    for subject, blocks, is_step in (
        ("GPT, 96 blocks, forward", 96, False),
        ("GPT, 96 blocks, training step", 96, True),
        ("GPT, 1,250 blocks, training step", 1250, True),
    ):
        if is_quick and (is_step or blocks > 96):
            continue
        plain_s, traced_s, ops = queryable(blocks, is_step=is_step)
        figures.add(
            Figure(
                subject,
                "plain to queryable record, CPU time",
                value=traced_s / plain_s,
                unit="x",
                bar=None if is_step else 3,
                note=f"{ops:,} ops; {plain_s * 1e3:,.0f} ms plain, {traced_s * 1e3:,.0f} ms traced",
            )
        )
        leaving = leaving_us(blocks, is_step=is_step)
        figures.add(Figure(subject, "leaving the trace, CPU time an op", value=leaving, unit="µs"))
    figures.add(
        Figure(
            "GPT, 12 blocks, training steps",
            "memory of an open trace",
            value=held_bytes(20 if is_quick else 60),
            unit="bytes/op",
        )
    )


def main() -> None:
    import paddle

    given = options(__doc__ or "").parse_args()
    figures = Figures(given.json)
    print(f"paddle {paddle.__version__}, Python {sys.version.split()[0]}\n")
    print("| what | plain | traced | ratio | of CPU time | bar | entering, leaving the trace |")
    print("|---|---|---|---|---|---|---|")
    print_traced(
        figures,
        "forward, 100 x (Linear, ReLU, add), width 64",
        small_layers(),
        repeats=9 if given.quick else 31,
        runs=5,
        bar=1.5,
    )
    if importlib.util.find_spec("graphviz") is not None and shutil.which("dot"):
        print_paddles_guard()
    extension_ms = statistics.median(load_extension_ms(2 if given.quick else 5))
    loaded = "`%load_ext paddle_lab` after `import paddle`"
    figures.add(Figure("IPython", loaded, value=extension_ms, unit="ms", bar=150))
    print(
        f"| `%load_ext paddle_lab` after `import paddle` | | {extension_ms:.0f} ms | | | 150 ms | |"
    )
    add_scale(figures, is_quick=given.quick)
    print()
    figures.print_table()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
