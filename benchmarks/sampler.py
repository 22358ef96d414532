"""What the live chart costs the code it watches: sampled against plain steps, in turns.

``python benchmarks/sampler.py [--rounds 12] [--rate 50]`` runs forward and backward of ResNet-18 in
a real kernel, where the sampler's batches go out as messages to a page, and prints a Markdown
table. Medians of rounds that alternate, so that whatever else the machine does falls on both alike.
What the threads that sample and send take of a core is read from the system, and holds on a busy
machine too.
"""

from __future__ import annotations

import argparse
import json
import os

from jupyter_client.manager import start_new_kernel

CODE = """
import json, statistics, threading, time, warnings
warnings.simplefilter("ignore")
import paddle, psutil
from paddle_lab.capture.memory.counters import memory_sampler
from paddle_lab.views.widgets.memory_widget import LiveMemory

network = paddle.vision.models.resnet18()
images = paddle.rand([4, 3, 224, 224])

def steps(count):
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(count):
        network(images).mean().backward()
        network.clear_gradients()
    return (time.perf_counter() - wall) / count, (time.process_time() - cpu) / count

def thread_cpu_s(*names):
    numbers = [each.native_id for each in threading.enumerate() if each.name in names]
    return sum(
        each.user_time + each.system_time
        for each in psutil.Process().threads() if each.id in numbers
    )

steps(2)
own_s = 0.0
plain, sampled, samples, batches = [], [], 0, 0
for number in range({rounds}):
    for is_sampled in ((False, True) if number % 2 else (True, False)):
        if not is_sampled:
            plain.append(steps(4))
            continue
        chart = LiveMemory(memory_sampler(rate_hz={rate}))
        chart.start()
        before_s = thread_cpu_s("IOPub")
        sampled.append(steps(4))
        own_s += thread_cpu_s("IOPub", "paddle_lab sampler") - before_s
        chart.stop()
        samples += len(chart.sampler.window(0, 2**62))
        chart.close()

sampler = memory_sampler()
begin = time.perf_counter()
for _ in range(2000):
    sampler.sample()
once_us = (time.perf_counter() - begin) / 2000 * 1e6
middle = lambda timings, index: statistics.median(each[index] for each in timings)
print("RESULT" + json.dumps({{
    "plain_ms": middle(plain, 0) * 1e3, "plain_cpu_ms": middle(plain, 1) * 1e3,
    "sampled_ms": middle(sampled, 0) * 1e3, "sampled_cpu_ms": middle(sampled, 1) * 1e3,
    "share": own_s / sum(each[0] * 4 for each in sampled),
    "rate_hz": samples / sum(each[0] * 4 for each in sampled), "once_us": once_us,
}}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--rate", type=float, default=50.0, help="samples a second")
    arguments = parser.parse_args()
    manager, client = start_new_kernel()
    lines: list[str] = []

    def take(message: dict) -> None:
        if message["msg_type"] == "stream":
            lines.append(message["content"]["text"])
        elif message["msg_type"] == "error":
            raise SystemExit("\n".join(message["content"]["traceback"]))

    try:
        client.execute_interactive(
            CODE.format(rounds=arguments.rounds, rate=arguments.rate),
            output_hook=take,
            timeout=3600,
        )
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    result = json.loads("".join(lines).rpartition("RESULT")[2])
    print(f"Load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print("| ResNet-18 step | plain ms | sampled ms | ratio |")
    print("|---|---:|---:|---:|")
    for name, kind in (("wall", ""), ("CPU", "_cpu")):
        plain, sampled = result[f"plain{kind}_ms"], result[f"sampled{kind}_ms"]
        print(f"| {name} | {plain:.1f} | {sampled:.1f} | {sampled / plain:.3f} |")
    print(
        f"\n{result['rate_hz']:.1f} samples a second; one takes {result['once_us']:.0f} µs. "
        f"Sampling and sending take {100 * result['share']:.1f} % of one core."
    )


if __name__ == "__main__":
    main()
