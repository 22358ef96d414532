"""Samples in bounded room."""

from __future__ import annotations

import numpy as np

from paddle_lab.sampling.counter import ABSENT
from paddle_lab.sampling.history import SECOND_NS, History, Tier


def test_a_tier_keeps_the_newest_rows_in_order():
    tier = Tier(100, 1)
    for number in range(250):
        tier.append(number, [number * 2])

    rows = tier.since()

    assert len(tier) == 100
    assert rows[:, 0].tolist() == list(range(150, 250))
    assert rows[:, 1].tolist() == [number * 2 for number in range(150, 250)]
    assert tier.since(247)[:, 0].tolist() == [247, 248, 249]
    assert len(tier.since(250)) == 0


def test_a_wider_tier_keeps_its_rows_and_has_nothing_in_the_new_column():
    tier = Tier(4, 1)
    for number in range(6):
        tier.append(number, [number])
    tier.widen(2)
    tier.append(6, [6, 60])

    assert tier.since().tolist() == [[3, 3, ABSENT], [4, 4, ABSENT], [5, 5, ABSENT], [6, 6, 60]]


def test_a_bin_holds_the_least_and_the_largest_value():
    history = History(2)
    for tick, value in enumerate([5, 90, 2, 7]):
        history.append(tick * SECOND_NS // 4, [value, ABSENT])
    history.append(SECOND_NS, [1, 1])

    assert history.bins[0].since().tolist() == [[0, 2, 90, ABSENT, ABSENT]]
    assert len(history.bins[1]) == 0, "the minute is not over"


def test_a_time_without_samples_has_no_bin():
    history = History(1)
    for second in (0, 1, 9, 10):
        history.append(second * SECOND_NS, [1])

    assert (history.bins[0].since()[:, 0] // SECOND_NS).tolist() == [0, 1, 9]


def test_days_take_no_more_room_than_is_set_aside():
    history = History(3)
    # Eight days, sampled each second to be quick.
    for second in range(8 * 24 * 3600):
        history.append(second * SECOND_NS, [second, 0, 1])

    assert len(history.samples) == 6000
    assert len(history.bins[0]) == 7200
    assert len(history.bins[1]) == 7 * 24 * 60
    oldest = history.bins[1].since()[0]
    assert oldest[2] - oldest[1] == 59, "the largest and the least second of that minute"


def test_a_counter_added_later_is_absent_before():
    history = History(1)
    history.append(0, [1])
    history.append(1, [2, 20])
    history.append(SECOND_NS, [3, 30])

    assert history.samples.since().tolist() == [
        [0, 1, ABSENT],
        [1, 2, 20],
        [SECOND_NS, 3, 30],
    ]
    assert history.bins[0].since().tolist() == [[0, 1, 2, 20, 20]]


def test_a_window_has_its_two_ends():
    history = History(1)
    for number in range(10):
        history.append(number, [number])

    assert history.window(3, 5)[:, 0].tolist() == [3, 4, 5]
    assert isinstance(history.window(20, 30), np.ndarray)
    assert len(history.window(20, 30)) == 0
