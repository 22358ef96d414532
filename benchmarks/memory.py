"""What recording memory costs: ratios of the time with ``paddle_lab.memory()`` to plain time.

``python benchmarks/memory.py`` prints a Markdown table, measured as ``capture.py`` does: in turns,
what every op pays apart from what a trace does once. A second table tells how long the record takes
to put together for many allocations. ``--quick`` repeats less.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import nullcontext
from time import perf_counter
from typing import Any

from capture import Guard, Work, in_turns, median_ms, resnet18, small_layers


def small_layers_step() -> Work:
    """Return forward and backward of 100 times (Linear, ReLU, add), width 64."""
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


def print_ratios(what: str, work: Work, *, repeats: int, runs: int, bar: str) -> None:
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
        f"| {memory_cpu / plain_cpu:.2f} | {bar} "
        f"| {median_ms(memory.enter_s):.0f} ms, {median_ms(memory.leave_s):.0f} ms |"
    )


def print_leaving(step: Callable[[], Any], steps: int) -> None:
    import paddle_lab

    with paddle_lab.memory() as trace:
        for _ in range(steps):
            step()
        worked = perf_counter()
    left = perf_counter()
    record = trace.record
    print(
        f"| {steps} | {len(record.ops):,} | {len(record.allocations):,} "
        f"| {(left - worked) * 1e3:,.0f} ms |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="repeat less")
    quick = parser.parse_args().quick
    import paddle

    print(f"paddle {paddle.__version__}, Python {sys.version.split()[0]}\n")
    print(
        "| what | plain | traced, ratio | with memory, ratio | of CPU time | bar "
        "| entering, leaving |\n|---|---:|---:|---:|---:|---:|---:|"
    )
    small = "100 x (Linear, ReLU, add), width 64"
    repeats = 7 if quick else 31
    print_ratios(f"forward, {small}", small_layers(), repeats=repeats, runs=5, bar="1.5")
    print_ratios(f"a step, {small}", small_layers_step(), repeats=repeats, runs=5, bar="")
    resnet = resnet18()
    print_ratios("a step, ResNet-18, 224 px", resnet, repeats=3 if quick else 9, runs=1, bar="1.10")
    print("\n| steps of the small net | ops | allocations | leaving |\n|---:|---:|---:|---:|")
    for steps in (1, 10, 50):
        print_leaving(small_layers_step(), steps)


if __name__ == "__main__":
    main()
