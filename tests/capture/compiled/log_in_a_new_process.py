"""Runs one cell of 300 ops with Paddle's log at a level, traced or not, and prints counts.

``python log_in_a_new_process.py LEVEL traced|plain``: how many entries each line of Paddle's source
wrote in the cell's first and second run. The caller checks the trace's own entries.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import Counter

import paddle
import paddle.nn.functional as F

import paddle_lab
from paddle_lab.trace.log_text import read_log

LEVEL, MODE = int(sys.argv[1]), sys.argv[2]
net = paddle.nn.Linear(8, 8)
x = paddle.ones([2, 8])


def cell() -> None:
    y = x
    for _ in range(100):
        y = F.relu(net(y)) + x
    y.sum().backward()


def plain() -> Counter[str]:
    with tempfile.TemporaryFile() as file:
        stderr = os.dup(2)
        os.dup2(file.fileno(), 2)
        paddle.base.core.set_vlog_level(LEVEL)
        cell()
        os.dup2(stderr, 2)
        paddle.base.core.set_vlog_level(0)
        file.seek(0)
        entries = read_log(file.read(), year=2026)
    places = zip(entries.file, entries.line.tolist(), strict=True)
    return Counter(f"{file}:{line}" for file, line in places)


def traced() -> Counter[str]:
    with paddle_lab.trace(log=LEVEL) as trace:
        cell()
    return Counter(f"{entry.source_file}:{entry.source_line}" for entry in trace.log)


run = {"plain": plain, "traced": traced}[MODE]
sys.stdout.write(json.dumps([run(), run()]))
