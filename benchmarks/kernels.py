"""How much of the kernels' time is under the right op, and what ``profile=True`` costs.

``python benchmarks/kernels.py`` prints a Markdown table. The reference is Paddle's own profiler:
the event that contains each kernel in its tree (``tests/oracles/kernel_events.py``). The column "as
told" is the share of time that both place under the same op, or both under no op.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from statistics import median
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

NAMES = (
    "lenet", "resnet18", "mobilenet_v2", "lstm", "gru_bidirectional", "transformer_encoder",
    "transformer", "gan", "unet", "llama", "recompute_reentrant", "recompute_saved_hooks",
)  # fmt: skip
_TURNS = 5


def main() -> None:
    import pytest

    import paddle_lab
    from tests.capture.values.kernel_owners import misplaced, profiled
    from tests.models import MODELS
    from tests.oracles.kernel_events import OUTSIDE

    print("| model | kernels | their time | as told | outside ops | traced | profiled |")
    print("|---|---|---|---|---|---|---|")
    for name in NAMES:
        step = MODELS[name]()
        step()
        _, kernels = profiled(pytest.MonkeyPatch(), step)
        total_ns = sum(kernel.event.duration_ns for kernel in kernels)
        wrong_ns = sum(kernel.event.duration_ns for kernel in misplaced(kernels))
        told_ns = total_ns - wrong_ns
        outside_ns = sum(one.event.duration_ns for one in kernels if one.name == OUTSIDE)
        times: dict[str, list[float]] = {"plain": [], "traced": [], "profiled": []}
        for _ in range(_TURNS):
            for way, found in times.items():
                begin_s = perf_counter()
                if way == "plain":
                    step()
                    found.append(perf_counter() - begin_s)
                    continue
                with paddle_lab.trace(check="none", profile=way == "profiled"):
                    begin_s = perf_counter()
                    step()
                    found.append(perf_counter() - begin_s)
        plain_s = median(times["plain"])
        traced, with_kernels = (median(times[way]) / plain_s for way in ("traced", "profiled"))
        print(
            f"| {name} | {len(kernels)} | {total_ns / 1e6:.2f} ms "
            f"| {told_ns / total_ns:.3%} | {outside_ns / total_ns:.3%} "
            f"| {traced:.2f} | {with_kernels:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
