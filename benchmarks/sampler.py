"""What the live chart costs the code that it samples: alternating steps of ResNet-18.

``python benchmarks/sampler.py [--quick] [--minutes 3] [--rate 50] [--json FILE]`` runs forward and
backward in a real kernel, where the sampler's batches are sent as messages to a page, and prints
Markdown tables. Steps are measured in pairs (``pairs.py``), so each ratio has an interval. Another
figure does not depend on other work on the machine: the CPU time of the threads that sample and
send, by the system's clock of each thread, per second of running code.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from jupyter_client.manager import start_new_kernel

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.figures import Figure, Figures, options
from benchmarks.pairs import Interval

STEP = "forward and backward, ResNet-18, 224 px, batch 4"
BAR = 1.02
THREADS = ("paddle_lab sampler", "paddle_lab NVML", "IOPub")
"""The threads that work for the chart; the last one is ipykernel's and sends all messages."""

CODE = """
import json, statistics, sys, threading, time, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, {root!r})
import paddle
from benchmarks.pairs import in_pairs
from benchmarks.recorded_steps import measured
from paddle_lab.capture.memory.counters import memory_sampler
from paddle_lab.views.widgets.memory_widget import LiveMemory

own_s = dict.fromkeys({threads!r}, 0.0)
watched_s, samples = 0.0, 0

def cpu_s():
    return {{
        thread.name: time.clock_gettime(time.pthread_getcpuclockid(thread.ident))
        for thread in threading.enumerate() if thread.name in own_s
    }}

class Chart:
    def __enter__(self):
        self.chart = LiveMemory(memory_sampler(rate_hz={rate}))
        self.begin_s, self.before_s = time.perf_counter(), cpu_s()
        self.chart.start()

    def __exit__(self, *error):
        global watched_s, samples
        for name, spent_s in cpu_s().items():
            own_s[name] += spent_s - self.before_s.get(name, 0)
        watched_s += time.perf_counter() - self.begin_s
        samples += len(self.chart.sampler.window(0, 2**62))
        self.chart.close()

result = dict(steps=[])
for batch, pixels, share in ((1, 32, 0.4), (4, 224, 0.6)):
    found = measured(Chart, (batch, pixels), limit_s=share * {limit_s})
    result["steps"].append([
        f"{{batch}} × {{pixels}} px", len(found.plain), found.plain_s("wall_s"),
        found.ratio("wall_s"), found.ratio("cpu_s"),
    ])
sampler = memory_sampler()
begin = time.thread_time()
for _ in range(2000):
    sampler.sample()
result["once_us"] = (time.thread_time() - begin) / 2000 * 1e6
result["shares"] = {{name: spent_s / watched_s for name, spent_s in own_s.items()}}
result["rate_hz"] = samples / watched_s
print("RESULT" + json.dumps(result))
"""


def run(*, rate_hz: float, limit_s: float) -> dict:
    """Return the results of a kernel."""
    manager, client = start_new_kernel()
    lines: list[str] = []

    def take(message: dict) -> None:
        if message["msg_type"] == "stream":
            lines.append(message["content"]["text"])
        elif message["msg_type"] == "error":
            raise SystemExit("\n".join(message["content"]["traceback"]))

    root = str(Path(__file__).resolve().parent.parent)
    code = CODE.format(root=root, threads=THREADS, rate=rate_hz, limit_s=limit_s)
    try:
        client.execute_interactive(code, output_hook=take, timeout=3600)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    return json.loads("".join(lines).rpartition("RESULT")[2])


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--rate", type=float, default=50.0, help="samples a second")
    given = parser.parse_args()
    figures = Figures(given.json)
    result = run(rate_hz=given.rate, limit_s=(0.3 if given.quick else given.minutes) * 60)
    print(f"Load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print("| a step of ResNet-18 | groups of four turns | plain | wall, ratio | CPU, ratio |")
    print("|---|---:|---:|---:|---:|")
    for size, groups, plain_s, wall, cpu in result["steps"]:
        print(
            f"| {size} | {groups} | {plain_s * 1e3:.1f} ms | {Interval(*wall)} | {Interval(*cpu)} |"
        )
    median, low, high = wall  # the last size has the large pictures
    note = f"95 %: {low:.3f} to {high:.3f}; CPU time {Interval(*cpu)}"
    what = f"sampled {given.rate:g} times a second, to plain time"
    figures.add(Figure(STEP, what, value=median, unit="x", bar=BAR, note=note))
    sampling, asking, sending = (100 * result["shares"][name] for name in THREADS)
    what = "CPU time of sampling and sending, of one core"
    note = f"sampling {sampling:.2f} %, ipykernel's sending thread {sending:.2f} %"
    note += f", asking NVML {asking:.2f} %" if asking else ""
    spent = sampling + asking + sending
    figures.add(Figure("the live chart", what, value=spent, unit="%", note=note))
    print(f"\n{result['rate_hz']:.1f} samples a second; one takes {result['once_us']:.0f} µs.\n")
    figures.print_table()


if __name__ == "__main__":
    main()
