"""The history of samples has a bounded size."""

from __future__ import annotations

import numpy as np

from paddle_lab.sampling.counter import ABSENT
from paddle_lab.sampling.history import SECOND_NS, History, Ring, table


def test_a_ring_keeps_the_newest_items_in_order():
    ring = Ring(100)
    for number in range(250):
        ring.append(number)

    assert ring.since() == list(range(150, 250))
    assert ring.since(247) == [247, 248, 249]
    assert ring.since(250) == []


def test_a_bin_holds_the_least_and_the_largest_value():
    history = History()
    for tick, value in enumerate([5, 90, 2, 7]):
        history.append(tick * SECOND_NS // 4, [value, ABSENT])
    history.append(SECOND_NS, [1, 1])

    assert history.bins[0].since() == [[0, 2, 90, ABSENT, ABSENT]]
    assert history.bins[1].since() == [], "the minute is not over"


def test_a_time_without_samples_has_no_bin():
    history = History()
    for second in (0, 1, 9, 10):
        history.append(second * SECOND_NS, [1])

    assert [row[0] // SECOND_NS for row in history.bins[0].since()] == [0, 1, 9]


def test_days_take_no_more_room_than_is_set_aside():
    history = History()
    # Eight days, sampled each second to be quick.
    for second in range(8 * 24 * 3600):
        history.append(second * SECOND_NS, [second, 0, 1])

    assert len(history.samples.since()) == 6000
    assert len(history.bins[0].since()) == 7200
    assert len(history.bins[1].since()) == 7 * 24 * 60
    oldest = history.bins[1].since()[0]
    assert oldest[2] - oldest[1] == 59, "the largest and the least second of that minute"


def test_a_counter_added_later_is_absent_before():
    history = History()
    history.append(0, [1])
    history.append(1, [2, 20])
    history.append(SECOND_NS, [3, 30])

    assert table(history.samples.since(), 2).tolist() == [
        [0, 1, ABSENT],
        [1, 2, 20],
        [SECOND_NS, 3, 30],
    ]
    assert history.bins[0].since() == [[0, 1, 2, 20, 20]]


def test_a_window_has_its_two_ends():
    history = History()
    for number in range(10):
        history.append(number, [number])

    assert history.window(3, 5, 1)[:, 0].tolist() == [3, 4, 5]
    assert isinstance(history.window(20, 30, 1), np.ndarray)
    assert len(history.window(20, 30, 1)) == 0
