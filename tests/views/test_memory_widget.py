"""The live chart's widget in the kernel, without a page."""

from __future__ import annotations

import threading

import pytest

from paddle_lab.sampling.process import ProcessCounters
from paddle_lab.sampling.sampler import Sampler
from paddle_lab.views.widgets.memory_widget import LiveMemory

WAIT_S = 60


class Sent(LiveMemory):
    """A chart that keeps what it sends."""

    def __init__(self, *args, **kwargs):
        self.sent = []
        self.arrived = threading.Event()
        super().__init__(*args, **kwargs)

    def send(self, content, buffers=None):
        self.sent.append((content, buffers))
        self.arrived.set()

    def take(self, kind):
        """Take a message as if the page had sent it."""
        self._handle_custom_msg({"kind": kind, "view": 1}, [])
        return [content for content, _ in self.sent]


def process_sampler():
    return Sampler([ProcessCounters()], rate_hz=100)


def test_a_new_view_gets_all_that_is_kept():
    chart = Sent(process_sampler())
    for _ in range(3):
        chart.sampler.sample()

    (message,) = chart.take("opened")

    assert (message["kind"], message["rows"]) == ("history", [3, 0, 0])
    assert [counter["name"] for counter in message["counters"]] == ["resident"]


def test_it_sends_from_its_thread_until_it_is_stopped():
    chart = Sent(process_sampler())
    chart.start()
    assert chart.is_running
    assert chart.arrived.wait(WAIT_S)

    chart.stop("%paddle_mem off")
    count = len(chart.sent)

    assert (chart.is_running, chart.stopped_because) == (False, "%paddle_mem off")
    assert chart.sent[0][0]["kind"] == "batch"
    assert not chart.sampler.is_running
    assert len(chart.sent) == count
    chart.stop("again")
    assert chart.stopped_because == "%paddle_mem off"


def test_a_closed_view_asks_for_others():
    chart = Sent(process_sampler())

    assert chart.take("closed") == [{"kind": "who"}]
    assert chart.take("present") == [{"kind": "who"}]


def test_the_button_frees_and_says_what_came_back():
    chart = Sent(process_sampler(), free=lambda: "12 MB came back.")

    assert chart.take("free") == [{"kind": "freed", "text": "12 MB came back."}]


def test_a_failing_button_answers():
    def fail():
        raise RuntimeError("no")

    chart = Sent(process_sampler(), free=fail)

    assert chart.take("free") == [
        {"kind": "freed", "text": "Nothing was freed (RuntimeError: no)."}
    ]


def test_an_unknown_message_is_answered():
    chart = Sent(process_sampler())

    assert chart.take("dance") == [
        {"kind": "error", "text": "This chart knows no message 'dance'."}
    ]


@pytest.mark.parametrize("height", [0, 100, 5000])
def test_a_height_that_cannot_be_is_refused(height):
    with pytest.raises(ValueError, match="160 to 2000 pixels high"):
        LiveMemory(process_sampler(), height=height)
