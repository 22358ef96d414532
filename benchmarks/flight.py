"""What the flight record adds where nothing else is recorded: ratios of CPU time.

``python benchmarks/flight.py [--quick] [--groups 8] [--json FILE]`` prints a Markdown table. So
does ``paddle-lab run -n 2 --record-only``, whose ranks write this record. Under
``python -m paddle.distributed.launch --nproc_per_node 2 benchmarks/flight.py`` LeNet is a
``DataParallel`` of two ranks.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from contextlib import AbstractContextManager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.figures import Figure, Figures, options
from benchmarks.pairs import Work, in_pairs
from benchmarks.small_steps import training_step


def elementwise() -> Work:
    """Return 300 ops on 16 floats, whose time is all overhead of Paddle."""
    import paddle

    x = paddle.rand([4, 4])

    def loop() -> None:
        y = x
        for _ in range(100):
            y = paddle.tanh(y * 0.5 + x)

    return loop


def lenet() -> Work:
    """Return a training step of LeNet with Adam on 64 images, in several ranks if there are."""
    import paddle
    import paddle.distributed as dist

    network = paddle.vision.models.LeNet()
    if dist.get_world_size() > 1:
        network = paddle.DataParallel(network)
    optimizer = paddle.optimizer.Adam(parameters=network.parameters())
    return training_step(network, optimizer, paddle.rand([64, 1, 28, 28]))


SUBJECTS = {
    "300 small ops": (elementwise, 50, 1.25),
    "a step of LeNet, 64 images, Adam": (lenet, 40, 1.02),
}


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--groups", type=int, default=8, help="groups of four turns")
    given = parser.parse_args()
    figures = Figures(given.json)
    import paddle
    import paddle.distributed as dist

    from paddle_lab.capture.flight.flight_only import FlightOnly
    from paddle_lab.flights.folder import KEPT

    if dist.get_world_size() > 1:
        dist.init_parallel_env()
    here = sys._getframe()  # noqa: SLF001

    def flight() -> AbstractContextManager[None]:
        return FlightOnly("benchmark", here)

    with tempfile.TemporaryDirectory() as folder:
        KEPT[:] = [(Path(folder), "benchmark")]
        print(f"paddle {paddle.__version__}, rank {dist.get_rank()} of {dist.get_world_size()}\n")
        print("| what runs | plain, CPU | with the flight record |\n|---|---:|---:|")
        for subject, (made, runs, bar) in SUBJECTS.items():
            work = made()
            for _ in range(3):
                work()
            turns = 10 if given.quick else runs
            found = in_pairs(flight, work, groups=2 if given.quick else given.groups, runs=turns)
            ratio = found.ratio("cpu_s")
            print(f"| {subject} | {found.plain_s('cpu_s') * 1e3:.2f} ms | {ratio.text()} |")
            what = "flight record alone to plain, CPU time"
            note = f"95 %: {ratio.low:.2f} to {ratio.high:.2f}; {turns} steps a turn"
            figures.add(Figure(subject, what, value=ratio.median, unit="x", bar=bar, note=note))
    print()
    figures.print_table()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
