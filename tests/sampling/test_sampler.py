"""The sampler and its thread."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from paddle_lab.sampling.counter import ABSENT, Counter
from paddle_lab.sampling.process import ProcessCounters
from paddle_lab.sampling.sampler import Sampler

WAIT_S = 60


class Shelf:
    """A source whose values a test sets."""

    def __init__(self, name, *values):
        self.name = name
        self.values = list(values)
        self.absence = ""

    def counters(self):
        return [
            Counter(f"{self.name}{index}", "cpu", "shelf", absence=self.absence)
            for index in range(len(self.values))
        ]

    def read(self, now_ns):  # noqa: ARG002
        return list(self.values)


def test_a_sample_is_one_value_a_counter():
    sampler = Sampler([Shelf("a", 1, 2), Shelf("b", 3)])

    sampler.sample()

    assert sampler.window(0, 2**62)[:, 1:].tolist() == [[1, 2, 3]]
    assert [counter.name for counter in sampler.counters] == ["a0", "a1", "b0"]


def test_columns_stay_where_they_are_when_a_source_adds_a_counter():
    first, second = Shelf("a", 1), Shelf("b", 3)
    sampler = Sampler([first, second])
    sampler.sample()
    first.values.append(2)
    sampler.sample()

    assert [counter.name for counter in sampler.counters] == ["a0", "b0", "a1"]
    assert sampler.window(0, 2**62)[:, 1:].tolist() == [[1, 3, ABSENT], [1, 3, 2]]


def test_a_counter_that_becomes_absent_says_why():
    shelf = Shelf("a", 1)
    sampler = Sampler([shelf])
    sampler.sample()
    _, cursor = sampler.batch()
    shelf.values = [ABSENT]
    shelf.absence = "It is gone."
    sampler.sample()

    batch, cursor = sampler.batch(cursor)

    assert batch.counters is not None
    assert batch.counters[0].absence == "It is gone."
    assert batch.tiers[0][:, 1:].tolist() == [[ABSENT]]
    assert sampler.batch(cursor)[0].counters is None, "told once"


def test_batches_of_the_thread_hold_every_sample_once():
    sampler = Sampler([ProcessCounters()], rate_hz=100)
    batches, enough = [], threading.Event()

    def take(batch):
        batches.append(batch)
        if len(batches) == 5:
            enough.set()

    sampler.start(take)
    assert sampler.is_running
    assert enough.wait(WAIT_S)
    sampler.stop()

    assert not sampler.is_running
    sent = np.concatenate([batch.tiers[0] for batch in batches])
    assert sent.tolist() == sampler.window(0, 2**62)[: len(sent)].tolist()
    assert (np.diff(sent[:, 0]) > 0).all()
    assert (sent[:, 1] > 1_000_000).all(), "this process is in memory"


def test_a_sampler_starts_again_after_a_stop():
    sampler = Sampler([Shelf("a", 1)], rate_hz=100)
    for _ in range(3):
        called = threading.Event()
        sampler.start(lambda _, called=called: called.set())
        assert called.wait(WAIT_S)
        sampler.stop()
        assert not sampler.is_running
    assert threading.active_count() == len(threading.enumerate())
    assert "paddle_lab sampler" not in [thread.name for thread in threading.enumerate()]


def test_a_fault_ends_the_thread_and_prints_nothing(capfd):
    sampler = Sampler([Shelf("a", 1)], rate_hz=100)
    thread_ended = threading.Event()

    def fail(batch):
        thread_ended.set()
        raise OSError("the page is gone")

    sampler.start(fail)
    assert thread_ended.wait(WAIT_S)
    sampler.stop()

    assert sampler.fault == "OSError: the page is gone"
    assert capfd.readouterr() == ("", "")


def test_cells_and_layers_are_spans():
    layers = iter(["", "conv1", "conv1", "fc", ""])
    sampler = Sampler([Shelf("a", 1)], running_layer=lambda: next(layers))
    sampler.sample()
    sampler.cell_started("[3]")
    _, cursor = sampler.batch()
    for _ in range(3):
        sampler.sample()
    sampler.cell_ended()
    sampler.sample()

    batch, cursor = sampler.batch(cursor)

    assert [(mark.label, mark.end_ns > mark.start_ns) for mark in batch.layers] == [
        ("conv1", True),
        ("fc", True),
    ]
    assert [mark.label for mark in batch.cells] == ["[3]"]
    assert batch.running_cell is None
    again, _ = sampler.batch(cursor)
    assert (again.cells, again.layers) == ([], [])


def test_a_message_holds_the_rows_as_float64_and_ms():
    sampler = Sampler([Shelf("a", 7, ABSENT)])
    sampler.cell_started("[3]")
    sampler.sample()
    sampler.sample()

    message, buffers = sampler.batch()[0].message()

    assert message["rows"] == [2, 0, 0]
    assert [counter["name"] for counter in message["counters"]] == ["a0", "a1"]
    ((start_ms, end_ms, label),) = message["cells"]
    assert (start_ms >= 0, end_ms, label) == (True, None, "[3]")
    rows = np.frombuffer(buffers[0], dtype="<f8").reshape(2, 3)
    assert rows[:, 1:].tolist() == [[7, ABSENT], [7, ABSENT]]
    window = sampler.window(0, 2**62)
    assert np.allclose(rows[:, 0], (window[:, 0] - sampler.started_ns) / 1e6)


@pytest.mark.parametrize("rate_hz", [0, 0.5, 1000])
def test_a_rate_that_cannot_be_is_refused(rate_hz):
    with pytest.raises(ValueError, match="1 to 100 times a second"):
        Sampler([], rate_hz=rate_hz)
