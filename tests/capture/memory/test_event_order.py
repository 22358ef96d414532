"""Events of several threads are in the order in which Paddle numbered them."""

from __future__ import annotations

import numpy as np

from paddle_lab.capture.memory.log.event_order import in_counted_order
from paddle_lab.capture.memory.log.events import ALLOCATE, COLUMNS, FREE, NOT_READ

TIME, THREAD, LATE = map(COLUMNS.index, ("time_ns", "thread", "late_ns"))


def table(*events):
    """Return events of (time, kind, bytes, counted, thread)."""
    rows = np.zeros((len(events), len(COLUMNS)), np.int64)
    for row, (time, kind, size, counted, thread) in zip(rows, events, strict=True):
        for name, value in {
            "time_ns": time, "kind": kind, "bytes": size, "allocated_bytes": counted,
            "thread": thread, "address": time,
        }.items():  # fmt: skip
            row[COLUMNS.index(name)] = value
    return rows


def totals(events, start=100):
    """Return the running total; at one time memory is freed first."""
    kind, size, time = (events[:, COLUMNS.index(name)] for name in ("kind", "bytes", "time_ns"))
    order = np.lexsort((kind == ALLOCATE, time))
    return (start + np.cumsum(np.where(kind == ALLOCATE, size, -size)[order])).tolist()


def test_what_was_freed_for_an_allocation_comes_before_it():
    events = table(
        (10, ALLOCATE, 50, 150, 1),
        (20, ALLOCATE, 40, 140, 2),  # the 50 were freed already
        (30, FREE, 50, 140, 1),
        (40, FREE, 40, 100, 2),
    )
    found = in_counted_order(events)
    assert totals(events) == [150, 190, 140, 100]
    assert totals(found) == [150, 100, 140, 100]
    assert np.all(np.diff(found[:, 0]) >= 0)


def test_what_was_allocated_before_a_free_comes_before_it():
    events = table(
        (10, ALLOCATE, 50, 150, 1),
        (20, FREE, 50, 140, 1),
        (30, ALLOCATE, 40, 140, 2),
        (40, FREE, 40, 100, 2),
    )
    assert totals(in_counted_order(events)) == [150, 190, 140, 100]


def test_two_may_be_on_their_way():
    events = table(
        (10, ALLOCATE, 1, 101, 1),
        (20, ALLOCATE, 2, 107, 1),
        (30, ALLOCATE, 4, 107, 2),
        (31, FREE, 3, 104, 1),
        (32, FREE, 5, 99, 3),
        (40, ALLOCATE, 8, 107, 1),
    )
    found = in_counted_order(events)
    assert totals(found)[1:3] == [105, 107]
    assert totals(found)[-1] == totals(events)[-1]


def test_the_event_whose_own_count_fits_best_is_moved():
    events = table(
        *((10 * step, ALLOCATE, 60, 160 + 60 * step, 1) for step in range(3)),
        (40, ALLOCATE, 60, 400, 1),  # counts what thread 3 allocated
        (50, ALLOCATE, 60, 460, 2),
        (60, ALLOCATE, 60, 340, 3),
        (70, ALLOCATE, 60, 520, 1),
    )
    found = in_counted_order(events)
    assert found[:, THREAD].tolist() == [1, 1, 1, 3, 1, 2, 1]
    assert found[:, TIME].tolist() == [0, 10, 20, 40, 40, 50, 70]
    assert found[:, LATE].tolist() == [0, 0, 0, 20, 0, 0, 0]


def test_one_thread_and_counters_that_nobody_read_stay_as_they_are():
    events = table((10, ALLOCATE, 5, 300, 1), (20, FREE, 5, 100, 1))
    assert np.array_equal(in_counted_order(events), events)
    unread = table((10, ALLOCATE, 5, NOT_READ, 1), (20, ALLOCATE, 5, 105, 2))
    assert np.array_equal(in_counted_order(unread), unread)


def test_what_no_order_explains_keeps_its_times():
    events = table(
        *((10 * step, ALLOCATE, 7, 1000 + 13 * step * (step % 3), step % 2) for step in range(300))
    )
    assert np.array_equal(in_counted_order(events), events)


def test_many_events_of_busy_threads_add_up_to_what_was_counted():
    chance = np.random.default_rng(3)
    count = 3000
    thread = np.repeat(chance.integers(1, 4, count // 2), 2)
    size = np.repeat(chance.integers(1, 9999, count // 2), 2)
    kind = np.tile([ALLOCATE, FREE], count // 2)
    counted = 100 + np.cumsum(np.where(kind == ALLOCATE, size, -size))
    times = np.arange(count) * 100 + 10
    # An event of another thread may come between an event's count and its time.
    is_late = (chance.random(count) < 0.3) & (np.append(thread[1:], 0) != thread)
    times[is_late] += 150
    events = table(*zip(times, kind, size, counted, thread, strict=True))
    assert max(totals(events)) > counted.max()
    assert totals(in_counted_order(events)) == counted.tolist()
