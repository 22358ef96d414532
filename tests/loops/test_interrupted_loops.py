"""Loops of several threads, interrupted by finalizers that run ops themselves."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np
import paddle
import pytest

import paddle_lab
from paddle_lab.capture.native import NATIVE
from tests.loops.ledger import Ledger
from tests.loops.programs import twice
from tests.loops.test_loops import turns_of_ops

THREADS = 4
IN_FINALIZERS = "sign"


class Litter:
    """Garbage in a cycle: whatever allocates next may run its finalizer."""

    def __init__(self, x: Any) -> None:
        self.itself, self.x = self, x

    def __del__(self) -> None:
        for _ in range(2):
            paddle.sign(self.x)


def litter(x: Any) -> None:
    Litter(x)


def parts(ledger: Ledger, count: int) -> Iterator[Any]:
    for i in range(count):
        with ledger.turn(f"i {i + 1}"):
            ledger.op()
            made = paddle.full([2], i)
            litter(made)
        yield made


def work(ledger: Ledger, epochs: int, start: Barrier) -> None:
    start.wait()  # Else a thread may end before the next one begins, and take its work.
    ledger.op(2)
    x = paddle.ones([2])
    batches = [x, x, x.clone()]
    for epoch in range(epochs):
        with ledger.turn(f"epoch {epoch + 1}"):
            for number, batch in enumerate(batches, start=1):
                with ledger.turn(f"number {number}"):
                    litter(x)
                    ledger.op()
                    x = twice(ledger, batch * 1)
            for turn, part in zip((1, 2, 3, 4), [x, x, x.detach(), x], strict=True):
                with ledger.turn(f"turn, part {turn}"):
                    litter(part)
                    x = twice(ledger, x)
                    x = twice(ledger, x)
            try:
                for step in range(4):
                    with ledger.turn(f"step {step + 1}"):
                        x = twice(ledger, x)
                        litter(x)
                        _ = 1 / (2 - step)
            except ZeroDivisionError:
                x = twice(ledger, x)
            for at, part in enumerate(parts(ledger, 3)):
                with ledger.turn(f"at {at + 1}"):
                    ledger.op()
                    x = part + 1
            times = 0
            while times < 3:
                with ledger.turn(f"while times < 3 · {times + 1}"):
                    x = twice(ledger, x)
                    litter(x)
                times += 1


@pytest.mark.skipif(
    NATIVE is None and sys.version_info < (3, 13),
    reason="functions' variables are read natively before Python 3.13",
)
@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 tells no columns")
def test_threads_and_finalizers_change_no_turn() -> None:
    ledgers = [Ledger() for _ in range(THREADS)]
    start = Barrier(THREADS)
    switch_s, thresholds = sys.getswitchinterval(), gc.get_threshold()
    try:
        sys.setswitchinterval(1e-6)
        gc.set_threshold(5)
        with paddle_lab.trace(check="none") as trace, ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(work, ledgers, range(3, 3 + THREADS), [start] * THREADS))
    finally:
        sys.setswitchinterval(switch_s)
        gc.set_threshold(*thresholds)

    record = trace.record
    names = np.array([record.text(code) for code in record.ops["name"].tolist()])
    threads, told = record.ops["thread"], turns_of_ops(record)
    found = [
        [told[op] for op in np.flatnonzero((threads == thread) & (names != IN_FINALIZERS))]
        for thread in np.unique(threads[names == "full"])
    ]
    for turns, ledger in zip(sorted(found, key=len), ledgers, strict=True):
        assert turns == ledger.ops
    assert IN_FINALIZERS in names
