"""While no op runs, the line and the activity of each thread are reported."""

from __future__ import annotations

import os
import select
import threading
from queue import Queue
from typing import TYPE_CHECKING

import numpy as np
import paddle

import paddle_lab
from paddle_lab.capture.flight.stalls import StalledThread, StallWatch

if TYPE_CHECKING:
    import pytest


class Cache:
    lock = threading.Lock()


ENDS = threading.Event()
PIPE, LOADED = os.pipe(), os.pipe()


def locks() -> None:
    with Cache.lock:
        pass


def loops() -> None:
    while not ENDS.is_set():
        for number in range(10**6):
            _ = number


def reads() -> None:
    os.read(PIPE[0], 1)


def waits() -> None:
    ENDS.wait()


class Slow(paddle.io.Dataset):
    def __len__(self) -> int:
        return 1

    def __getitem__(self, item: int) -> np.ndarray:
        select.select([LOADED[0]], [], [], 60)
        return np.ones(2, "float32")


def test_each_thread_is_told_as_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StallWatch, "stall_s", 1.0)
    told: Queue[list[StalledThread]] = Queue()
    Cache.lock.acquire()
    threads = [
        threading.Thread(target=one, name=one.__name__) for one in (locks, loops, reads, waits)
    ]
    for thread in threads:
        thread.start()
    count = [0]

    def tell(_seconds: float, places: list[StalledThread]) -> None:
        told.put(places)
        if any(one.workers for one in places):
            os.write(LOADED[1], b"x")

    with paddle_lab.trace():
        watch = StallWatch(lambda: count[0], tell)
        _ = next(iter(paddle.io.DataLoader(Slow(), num_workers=1, use_shared_memory=False)))
        found: dict[str, StalledThread] = {}
        while not found or not found["MainThread"].workers:  # first it starts the worker
            found = {one.name: one for one in told.get(timeout=30)}
        while not told.empty():
            told.get()
        count[0] = 1
        while told.get(timeout=30):
            pass  # it is taken back once ops run again
        watch.close()
    ENDS.set()
    os.write(PIPE[1], b"x")
    Cache.lock.release()
    for thread in threads:
        thread.join()
    states = {name: (one.state, one.detail) for name, one in found.items()}
    first = loops.__code__.co_firstlineno
    assert states["MainThread"] == ("loader", "")
    ((worker, process, stack),) = found["MainThread"].workers
    assert worker == 0
    assert process != os.getpid()
    assert [(line, name) for _, line, name in stack] == [
        (Slow.__getitem__.__code__.co_firstlineno + 1, "__getitem__")
    ]
    assert states["locks"] == ("lock", "Cache.lock")
    assert states["loops"] == ("loop", f"{first + 2}–{first + 3}")
    assert states["reads"] == ("waits", "")
    assert states["waits"] == ("library", "Event.wait")
    assert [line for _, line, _ in found["locks"].stack] == [locks.__code__.co_firstlineno + 1]
