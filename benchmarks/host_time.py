"""Whether host times add up to the time of the cell, measured with a separate clock.

``python benchmarks/host_time.py`` prints a Markdown table of ordinary programs: self times, time
outside Paddle's ops, the trace's own time, and their sum compared with ``time.perf_counter_ns``
around the program.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def main() -> None:
    from tests.analysis.time.test_host_time import PROGRAMS

    print("| program | in ops | outside | trace itself | other threads | sum to measured |")
    print("|---|---:|---:|---:|---:|---:|")
    for program in PROGRAMS:
        program()
        print(row(program), flush=True)


def row(program: Callable[[], object]) -> str:
    """Trace a program. The trace is freed before the next program runs."""
    import paddle_lab

    with paddle_lab.trace() as trace:
        begin_ns = perf_counter_ns()
        program()
        measured_ns = perf_counter_ns() - begin_ns
    host = trace.table().host
    in_ops = int(host.spans.self_ns[host.spans.thread == 0].sum())
    parts = (in_ops, host.outside_ns or 0, host.own_ns or 0)
    told = " | ".join(f"{ns / 1e6:.2f} ms" for ns in (*parts, host.other_threads_ns))
    return f"| {getattr(program, '__name__', '')} | {told} | {sum(parts) / measured_ns:.4f} |"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
