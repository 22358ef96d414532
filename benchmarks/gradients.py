"""What gradient statistics cost: ratios of the time with ``grads=True`` to plain time.

``python benchmarks/gradients.py`` prints a Markdown table. It is measured as in ``capture.py``.
"""

from __future__ import annotations

import sys
import warnings
from contextlib import nullcontext

from capture import Guard, Work, in_turns, median_ms, resnet18
from memory import small_layers_step


def print_ratios(what: str, work: Work, *, repeats: int, runs: int, bar: float) -> None:
    import paddle_lab

    ways: dict[str, Guard] = {
        "plain": nullcontext,
        "traced": paddle_lab.trace,
        "gradients": lambda: paddle_lab.trace(grads=True),
    }
    timings = in_turns(ways, work, repeats=repeats, runs=runs)
    plain_ms, traced_ms, gradients_ms = (median_ms(timings[way].work_s) for way in ways)
    cpu_ms = [median_ms(timings[way].work_cpu_s) for way in ways]
    print(
        f"| {what} | {plain_ms:.2f} ms | {traced_ms / plain_ms:.2f} "
        f"| {gradients_ms / plain_ms:.2f} | {cpu_ms[2] / cpu_ms[0]:.2f} | {bar} "
        f"| {median_ms(timings['gradients'].leave_s):.0f} ms |"
    )


def main() -> None:
    import paddle

    print(f"paddle {paddle.__version__}, Python {sys.version.split()[0]}\n")
    print("| what | plain | traced | with gradients | of CPU time | bar | leaving the trace |")
    print("|---|---|---|---|---|---|---|")
    print_ratios(
        "forward and backward, 100 x (Linear, ReLU, add), width 64",
        small_layers_step(),
        repeats=15,
        runs=3,
        bar=3,
    )
    print_ratios(
        "forward and backward, ResNet-18, 224 px, batch 4", resnet18(), repeats=7, runs=1, bar=1.3
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
