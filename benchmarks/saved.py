"""What a trace takes on disk: bytes per op, and the time to save and to load it.

``python benchmarks/saved.py [--quick] [--json FILE]`` measures real models and tapes, all with
stacks. Times are the best of five.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

# This file is run by its path: add the repository, which has the modules it needs, to the path.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import paddle_lab
from benchmarks.figures import Figure, Figures, options
from benchmarks.tapes import tape

SUBJECTS = ("gpt-96", "gpt-96-step", "hierarchical-50000", "step-96", "chain-100000")
BAR_BYTES = 60.0


def best_ms(run: Callable[[], object]) -> float:
    times_ms = []
    for _ in range(5):
        begin = time.perf_counter()
        run()
        times_ms.append((time.perf_counter() - begin) * 1e3)
    return min(times_ms)


def main() -> None:
    given = options(__doc__).parse_args()
    figures = Figures(given.json)
    with tempfile.TemporaryDirectory() as folder:
        for subject in SUBJECTS[:3] if given.quick else SUBJECTS:
            trace = tape(subject)
            path = Path(folder) / f"{subject}.pltrace"
            save_ms = best_ms(partial(trace.save, path))
            load_ms = best_ms(partial(paddle_lab.load, path))
            an_op = path.stat().st_size / len(trace.record.ops)
            note = f"{len(trace.record.ops):,} ops, {len(trace.record.grad_nodes):,} grad nodes"
            add = figures.add
            add(Figure(subject, "saved", value=an_op, unit="bytes/op", bar=BAR_BYTES, note=note))
            add(Figure(subject, "save", value=save_ms, unit="ms"))
            add(Figure(subject, "load a file", value=load_ms, unit="ms"))
    figures.print_table()


if __name__ == "__main__":
    main()
