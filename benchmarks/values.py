"""What examining the numbers in every tensor costs: ratios of alternating times in one run.

``python benchmarks/values.py`` prints a Markdown table: plain, traced, and traced with
``values=True``, which records standard deviations and histograms.
"""

from __future__ import annotations

import warnings
from contextlib import nullcontext

from capture import Guard, Work, in_turns, median_ms, resnet18, small_layers


def print_row(what: str, work: Work, *, repeats: int, runs: int) -> None:
    import paddle_lab

    ways: dict[str, Guard] = {
        "plain": nullcontext,
        "traced": lambda: paddle_lab.trace(check="none"),
        "values": lambda: paddle_lab.trace(check="none", values=True),
    }
    timings = in_turns(ways, work, repeats=repeats, runs=runs)
    plain, traced, values = (timings[way] for way in ways)
    plain_ms, values_ms = median_ms(plain.work_s), median_ms(values.work_s)
    print(
        f"| {what} | {plain_ms:.2f} ms | {median_ms(traced.work_s) / plain_ms:.2f} "
        f"| {values_ms / plain_ms:.2f} "
        f"| {median_ms(values.work_cpu_s) / median_ms(plain.work_cpu_s):.2f} |"
    )


def main() -> None:
    print("| what | plain | traced | with values | of CPU time |")
    print("|---|---|---|---|---|")
    print_row("forward, 100 x (Linear, ReLU, add), width 64", small_layers(), repeats=21, runs=5)
    print_row("forward and backward, ResNet-18, 224 px, batch 4", resnet18(), repeats=7, runs=1)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
