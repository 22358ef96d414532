"""What tracing and recording memory add to training steps of small ops: ratios of CPU time.

``python benchmarks/small_steps.py [--quick] [--groups 8] [--json FILE]`` prints a Markdown table.
Each turn (``pairs.py``) is a separate trace with many steps, so that one-time costs hardly matter.
The ratio is of CPU time, which is also valid on a busy machine. Recording memory cannot cost less
than Paddle's own profiler, which writes down the events of the allocator; it is a row of its own.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.figures import Figure, Figures, options
from benchmarks.pairs import Guard, Work, in_pairs

BAR = 1.5


def perceptron() -> Work:
    """Return a training step of 30 blocks (Linear, ReLU), width 64, with SGD: 121 ops."""
    import paddle
    from paddle import nn

    layers = [layer for _ in range(30) for layer in (nn.Linear(64, 64), nn.ReLU())]
    network = nn.Sequential(*layers)
    optimizer = paddle.optimizer.SGD(parameters=network.parameters())
    return training_step(network, optimizer, paddle.rand([8, 64]))


def adamw() -> Work:
    """Return a training step of 100 Linear layers, width 32, with AdamW: 301 ops."""
    import paddle
    from paddle import nn

    network = nn.Sequential(*[nn.Linear(32, 32) for _ in range(100)])
    optimizer = paddle.optimizer.AdamW(parameters=network.parameters())
    return training_step(network, optimizer, paddle.rand([4, 32]))


def lenet() -> Work:
    """Return a training step of LeNet with Adam on 16 images."""
    import paddle

    network = paddle.vision.models.LeNet()
    optimizer = paddle.optimizer.Adam(parameters=network.parameters())
    return training_step(network, optimizer, paddle.rand([16, 1, 28, 28]))


def encoder() -> Work:
    """Return a training step of a TransformerEncoder of two layers, width 64, with AdamW."""
    import paddle
    from paddle import nn

    network = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128), 2)
    optimizer = paddle.optimizer.AdamW(parameters=network.parameters())
    return training_step(network, optimizer, paddle.rand([8, 16, 64]))


def training_step(network: Work, optimizer: object, batch: object) -> Work:
    def step() -> None:
        network(batch).mean().backward()  # type: ignore[call-arg]
        optimizer.step()  # type: ignore[attr-defined]
        optimizer.clear_grad()  # type: ignore[attr-defined]

    return step


@contextmanager
def profiler_alone() -> Iterator[None]:
    """Record the events of the allocator with Paddle's profiler, and read none of them."""
    import paddle

    from paddle_lab.capture.memory.log.allocator_log import ALLOCATOR_LOG

    reader = ALLOCATOR_LOG.open(paddle)
    if reader is None:
        raise RuntimeError("another profiler is running")
    try:
        yield
    finally:
        ALLOCATOR_LOG.close(reader)


SUBJECTS = {
    "a step of 30 × (Linear, ReLU), SGD": (perceptron, 100),
    "a step of 100 × Linear, AdamW": (adamw, 40),
    "a step of LeNet, 16 images, Adam": (lenet, 40),
    "a step of a TransformerEncoder, 2 layers, AdamW": (encoder, 40),
}


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--groups", type=int, default=8, help="groups of four turns")
    given = parser.parse_args()
    figures = Figures(given.json)
    import paddle

    import paddle_lab

    ways: dict[str, tuple[Guard, str, float | None]] = {
        "traced": (paddle_lab.trace, "traced to plain, CPU time", BAR),
        "Paddle's profiler alone": (profiler_alone, "profiler alone to plain, CPU time", None),
        "with memory": (paddle_lab.memory, "with memory to plain, CPU time", BAR),
    }
    print(f"paddle {paddle.__version__}, Python {sys.version.split()[0]}\n")
    print("| a step | | plain, CPU | ratio, CPU | least CPU: plain, added |")
    print("|---|---|---:|---:|---:|")
    for subject, (made, runs) in SUBJECTS.items():
        work = made()
        for _ in range(3):
            work()
        for way, (guard, what, bar) in ways.items():
            turns = 10 if given.quick else runs
            found = in_pairs(guard, work, groups=2 if given.quick else given.groups, runs=turns)
            ratio = found.ratio("cpu_s")
            least_ms = found.least_cpu_s["plain"] * 1e3
            print(
                f"| {subject} | {way} | {found.plain_s('cpu_s') * 1e3:.2f} ms | {ratio.text()} "
                f"| {least_ms:.2f} + {found.least_added_s * 1e3:.2f} ms |",
                flush=True,
            )
            note = f"95 %: {ratio.low:.2f} to {ratio.high:.2f}; {runs} steps a trace"
            figures.add(Figure(subject, what, value=ratio.median, unit="x", bar=bar, note=note))
    print()
    figures.print_table()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
