"""What recording memory costs: ratios of the time with ``paddle_lab.memory()`` to plain time.

``python benchmarks/memory.py`` prints a Markdown table, measured as in ``capture.py``: alternately,
and with the cost per op apart from the cost per trace. A second table has the time to assemble the
record for many allocations. ``--quick`` repeats less; ``--json FILE`` writes the rows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.capture import Guard, Work, in_turns, median_ms, small_layers
from benchmarks.figures import Figure, Figures, options
from benchmarks.gpt import work as gpt_work


def small_layers_step() -> Work:
    """Return forward and backward of 100 blocks (Linear, ReLU, add), width 64."""
    import paddle
    from paddle import nn

    linears = nn.LayerList([nn.Linear(64, 64) for _ in range(100)])
    activation = nn.ReLU()
    data = paddle.rand([8, 64])

    def step() -> None:
        hidden = data
        for linear in linears:
            hidden = activation(linear(hidden)) + hidden
        hidden.mean().backward()
        linears.clear_gradients()

    return step


def print_ratios(
    figures: Figures, what: str, work: Work, *, repeats: int, runs: int, bar: float | None
) -> None:
    import paddle_lab

    ways: dict[str, Guard] = {
        "plain": nullcontext,
        "traced": paddle_lab.trace,
        "memory": paddle_lab.memory,
    }
    timings = in_turns(ways, work, repeats=repeats, runs=runs)
    plain_ms, traced_ms, memory_ms = (median_ms(timings[way].work_s) for way in ways)
    plain_cpu, memory_cpu = (median_ms(timings[way].work_cpu_s) for way in ("plain", "memory"))
    memory = timings["memory"]
    print(
        f"| {what} | {plain_ms:.2f} ms | {traced_ms / plain_ms:.2f} | {memory_ms / plain_ms:.2f} "
        f"| {memory_cpu / plain_cpu:.2f} | {bar or ''} "
        f"| {median_ms(memory.enter_s):.0f} ms, {median_ms(memory.leave_s):.0f} ms |"
    )
    note = f"of CPU time {memory_cpu / plain_cpu:.2f}"
    ratio = memory_ms / plain_ms
    figures.add(Figure(what, "with memory to plain", value=ratio, unit="x", bar=bar, note=note))


def print_leaving(figures: Figures, what: str, step: Callable[[], Any], steps: int) -> None:
    import paddle_lab

    with paddle_lab.memory() as trace:
        for _ in range(steps):
            step()
        worked, worked_cpu = perf_counter(), process_time()
    taken, cpu = perf_counter() - worked, process_time() - worked_cpu
    record = trace.record
    count = len(record.allocations)
    print(
        f"| {what} | {steps} | {len(record.ops):,} | {count:,} | {taken * 1e3:,.0f} ms "
        f"| {cpu / count * 1e6:.0f} µs |"
    )
    subject = f"{what}, {steps} steps, {count:,} allocations"
    figures.add(Figure(subject, "leaving, CPU time", value=cpu * 1e3, unit="ms"))


def main() -> None:
    given = options(__doc__ or "").parse_args()
    figures, quick = Figures(given.json), given.quick
    import paddle

    print(f"paddle {paddle.__version__}, Python {sys.version.split()[0]}\n")
    print(
        "| what | plain | traced, ratio | with memory, ratio | of CPU time | bar "
        "| entering, leaving |\n|---|---:|---:|---:|---:|---:|---:|"
    )
    small = "100 x (Linear, ReLU, add), width 64"
    repeats = 7 if quick else 31
    forward, step = small_layers(), small_layers_step()
    print_ratios(figures, f"forward, {small}", forward, repeats=repeats, runs=5, bar=1.5)
    print_ratios(figures, f"a step, {small}", step, repeats=repeats, runs=5, bar=None)
    print(
        "\n| what | steps | ops | allocations | leaving | CPU an allocation |\n"
        "|---|---:|---:|---:|---:|---:|"
    )
    for steps in (1, 10, 50):
        print_leaving(figures, "small net", small_layers_step(), steps)
    for steps in (1,) if quick else (1, 5):
        print_leaving(figures, "GPT of 96 blocks", gpt_work(96, is_step=True), steps)


if __name__ == "__main__":
    main()
