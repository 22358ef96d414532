"""What a trace adds to one small op, by the way in which a program calls it.

``python benchmarks/small_calls.py [--quick] [--groups 8] [--json FILE]`` prints a Markdown table of
ratios of CPU time, measured as in ``small_steps.py``. Such an op takes 2 to 8 µs, and a trace adds
about as much, so these ratios have no bar: they show which ways cost more than the others.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import paddle
from paddle.nn import functional

import paddle_lab
from benchmarks.figures import Figure, Figures, options
from benchmarks.pairs import in_pairs

_COUNT = 100
_DATA = paddle.rand([8, 64])
_DATA.stop_gradient = False
_TARGET = paddle.zeros([8, 64])


def operators() -> None:
    hidden = _DATA
    for _ in range(_COUNT):
        hidden = hidden + _DATA


def keywords() -> None:
    for _ in range(_COUNT):
        functional.softmax(_DATA, axis=-1)


def lists() -> None:
    for _ in range(_COUNT):
        paddle.concat([_DATA, _DATA], axis=1)


def slices() -> None:
    for at in range(_COUNT):
        _DATA[:, at % 64]


def writes() -> None:
    for at in range(_COUNT):
        _TARGET[at % 8] = 0.5


def calls_of_a_function() -> None:
    hidden = _DATA
    for _ in range(_COUNT):
        hidden = _next(hidden)


def _next(hidden: paddle.Tensor) -> paddle.Tensor:
    return hidden * 0.5


def while_with_a_counter() -> None:
    hidden, step = _DATA, 0
    while step < _COUNT:
        hidden = hidden * 0.5
        step += 1


def while_true() -> None:
    hidden, left = _DATA, [None] * _COUNT
    while True:
        hidden = hidden * 0.5
        left.pop()
        if not left:
            break


def generator() -> None:
    for hidden in (_DATA * 0.5 for _ in range(_COUNT // 2)):
        hidden * 0.5


SUBJECTS: tuple[Callable[[], None], ...] = (
    operators, keywords, lists, slices, writes, calls_of_a_function, while_with_a_counter,
    while_true, generator,
)  # fmt: skip


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--groups", type=int, default=8, help="groups of four turns")
    given = parser.parse_args()
    figures = Figures(given.json)
    print(f"paddle {paddle.__version__}, Python {sys.version.split()[0]}\n")
    print(f"| {_COUNT} small ops | plain, CPU | ratio, CPU | a trace adds to an op |")
    print("|---|---:|---:|---:|")
    for work in SUBJECTS:
        name = work.__name__.replace("_", " ")
        found = in_pairs(paddle_lab.trace, work, groups=2 if given.quick else given.groups, runs=30)
        ratio, added_us = found.ratio("cpu_s"), found.least_added_s / _COUNT * 1e6
        plain_ms = found.plain_s("cpu_s") * 1e3
        print(f"| {name} | {plain_ms:.2f} ms | {ratio.text()} | {added_us:.1f} µs |", flush=True)
        subject = f"{_COUNT} small ops: {name}"
        figures.add(Figure(subject, "traced to plain, CPU time", value=ratio.median, unit="x"))
        figures.add(Figure(subject, "CPU time that a trace adds", value=added_us, unit="µs/op"))
    print()
    figures.print_table()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
