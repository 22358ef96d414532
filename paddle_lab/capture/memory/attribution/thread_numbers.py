"""Which of the trace's threads is which of the operating system's."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from paddle_lab.capture.memory.attribution.op_windows import ops_at
from paddle_lab.capture.memory.held.blocks import BEFORE, Blocks
from paddle_lab.capture.memory.log.events import Int64s


def match_threads(
    known: dict[int, int],
    reused: Collection[int],
    blocks: Blocks,
    start_ns: Int64s,
    end_ns: Int64s,
    thread: Int64s,
) -> dict[int, int]:
    """Find the numbers of threads that were gone when the trace ended: by when they were busy.

    One number may stand for several threads: Python gives the identity of one that has ended to a
    later one.

    Parameters
    ----------
    known
        The operating system's ids, as far as they are known, to the trace's numbers.
    reused
        Numbers that may stand for further threads.
    start_ns, end_ns, thread
        Ops, on the clock of ``perf_counter_ns``, and the numbers of their threads.

    Returns
    -------
    dict
        All that are known now. Threads that run no Python (an executor's) stay unknown.
    """
    numbers = dict(known)
    taken = set(known.values()) - set(reused)
    waiting = [number for number in np.unique(thread).tolist() if number not in taken]
    is_open = (blocks.start_ns != BEFORE) & ~np.isin(blocks.thread, list(known))
    for native in np.unique(blocks.thread[is_open]).tolist():
        times = blocks.start_ns[is_open & (blocks.thread == native)]
        for number in waiting:
            same = np.full(len(times), number, dtype=np.int64)
            if (ops_at(times, same, start_ns, end_ns, thread) >= 0).all():
                numbers[native] = number
                break
    return numbers


def number_all(numbers: dict[int, int], native: Int64s) -> Int64s:
    """Return the trace's numbers of threads; those it does not know get further ones."""
    distinct, inverse = np.unique(native, return_inverse=True)
    further = max(numbers.values(), default=-1) + 1
    found = []
    for identity in distinct.tolist():
        if identity in numbers:
            found.append(numbers[identity])
        else:
            found.append(further)
            further += 1
    return np.array(found, dtype=np.int64)[inverse]
