"""What recording adds to training steps of ResNet-18: alternating single steps of several sizes.

``python benchmarks/recorded_steps.py [--quick] [--minutes 2] [--json FILE]`` prints Markdown
tables. A step with 224 px takes so long that few fit into the time, and the machine's noise exceeds
the difference to be measured. So there are three results. The first is the ratio at that size, with
its 95 % interval (``pairs.py``). The second is the ratio for one small picture: the step is short
and has as many ops, so its bar is harder to meet. The third is computed: the cost per op, with its
backward and its allocations, times the ops of ResNet-18. This cost does not depend on sizes, so it
is measured on a net of 300 tiny ops, whose steps are so short that some run undisturbed.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.figures import Figure, Figures, options
from benchmarks.memory import small_layers_step
from benchmarks.pairs import Guard, Pairs, Work, in_pairs

Size = tuple[int, int]

LARGE, SMALL = (4, 224), (1, 32)
"""How many pictures, and their width in pixels."""
STEP = "forward and backward, ResNet-18, 224 px, batch 4"
FEWEST = 6
"""The fewest groups of turns for which there is an interval."""


def resnet18(size: Size) -> Work:
    """Return forward and backward of ResNet-18 on square pictures."""
    import paddle

    network = paddle.vision.models.resnet18()
    batch, pixels = size
    images = paddle.rand([batch, 3, pixels, pixels])

    def step() -> None:
        network(images).mean().backward()
        network.clear_gradients()

    return step


def measured(guard: Guard, size: Size, *, limit_s: float) -> Pairs:
    """Return as many turns as fit into the time; a turn takes about a tenth of a second or more."""
    work = resnet18(size)
    step_s = in_pairs(guard, work, groups=1).plain_s("wall_s")
    runs = max(1, round(0.1 / step_s))
    groups = int(limit_s / (4 * runs * step_s))
    return in_pairs(guard, work, groups=max(FEWEST, min(groups, 200)), runs=runs)


def added_s_per_op(guard: Guard, *, groups: int) -> float:
    """Return the least CPU time that recording adds to an op and its backward."""
    net = small_layers_step()
    return in_pairs(guard, net, groups=groups).least_added_s / ops_of(net)


def ops_of(work: Work) -> int:
    """Return how many ops a step runs."""
    import paddle_lab

    with paddle_lab.trace() as trace:
        work()
    return len(trace.ops)


def print_row(way: str, size: Size, found: Pairs, bar: float) -> None:
    batch, pixels = size
    plain_ms = found.plain_s("wall_s") * 1e3
    print(
        f"| {way}, {batch} × {pixels} px | {len(found.plain)} | {plain_ms:.1f} ms "
        f"| {found.ratio('wall_s')} | {found.ratio('cpu_s')} "
        f"| {found.least_cpu_s['plain'] * 1e3:.1f} + {found.least_added_s * 1e3:.2f} ms | {bar} |"
    )


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--minutes", type=float, default=2.0, help="for each way to run")
    given = parser.parse_args()
    figures = Figures(given.json)
    import paddle

    import paddle_lab

    ways: dict[str, tuple[Guard, str, float]] = {
        "traced": (paddle_lab.trace, "traced to plain time", 1.05),
        "with memory": (paddle_lab.memory, "with memory to plain", 1.10),
    }
    limit_s = (0.2 if given.quick else given.minutes) * 60
    print(f"paddle {paddle.__version__}, Python {sys.version.split()[0]}\n")
    print(
        "| a step of ResNet-18 | groups of four turns | plain | wall, ratio | CPU, ratio ", end=""
    )
    print("| least CPU: plain, added | bar |\n|---|---:|---:|---:|---:|---:|---:|")
    for way, (guard, what, bar) in ways.items():
        short, long = (
            measured(guard, size, limit_s=share * limit_s)
            for size, share in ((SMALL, 0.3), (LARGE, 0.7))
        )
        print_row(way, SMALL, short, bar)
        print_row(way, LARGE, long, bar)
        wall, cpu = long.ratio("wall_s"), long.ratio("cpu_s")
        note = f"95 %: {wall.low:.3f} to {wall.high:.3f}; CPU time {cpu}"
        figures.add(Figure(STEP, what, value=wall.median, unit="x", bar=bar, note=note))
        each_s, ops = (
            added_s_per_op(guard, groups=8 if given.quick else 40),
            ops_of(resnet18(SMALL)),
        )
        share = each_s * ops / long.least_cpu_s["plain"]
        note = f"{ops} ops, {each_s * 1e6:.1f} µs for each and its backward"
        figures.add(Figure(STEP, f"{way}: counted, of CPU", value=share * 100, unit="%", note=note))
    print()
    figures.print_table()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
