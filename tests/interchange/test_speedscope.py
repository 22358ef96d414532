"""The file of host times, checked with speedscope's published schema; it is nested and complete."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from pathlib import Path

import jsonschema
import paddle
import pytest
from paddle.autograd import PyLayer

import paddle_lab
from tests.browser.speedscope_page import RELEASE


class Double(PyLayer):
    @staticmethod
    def forward(_context, x):
        return x + x

    @staticmethod
    def backward(_context, gradient):
        return gradient + gradient


def traced(**options):
    def work():
        y = paddle.ones([4])
        for _ in range(5):
            y = y * 2

    with paddle_lab.trace(**options) as trace:
        x = paddle.ones([4])
        x.stop_gradient = False
        Double.apply(x).sum().backward()
        time.sleep(0.02)
        worker = threading.Thread(target=work)
        worker.start()
        worker.join()
        work()
    return trace


@pytest.fixture(scope="module")
def trace():
    return traced()


@pytest.fixture(scope="module")
def profile(trace, tmp_path_factory):
    path = trace.to_speedscope(tmp_path_factory.mktemp("speedscope") / "cell.json")
    return json.loads(path.read_text(encoding="utf-8"))


def test_speedscopes_schema_accepts_it(profile):
    (schema,) = Path(RELEASE).glob("file-format-schema*.json")
    jsonschema.validate(profile, json.loads(schema.read_text(encoding="utf-8")))


def self_times(profile, thread):
    """Return how long each frame was the innermost one, as a reader of the file finds it."""
    names = [frame["name"] for frame in profile["shared"]["frames"]]
    found, opened, before = Counter(), [], 0
    for event in profile["profiles"][thread]["events"]:
        assert event["at"] >= before
        if opened:
            found[names[opened[-1]]] += event["at"] - before
        before = event["at"]
        if event["type"] == "O":
            opened.append(event["frame"])
        else:
            assert opened.pop() == event["frame"]
    assert not opened
    return found


def test_the_frames_of_the_cells_thread_fill_the_cell(trace, profile):
    host = trace.table().host
    found = self_times(profile, 0)
    assert sum(found.values()) == host.wall_ns == profile["profiles"][0]["endValue"]
    assert found["outside Paddle's ops"] == host.outside_ns
    assert found["Paddle Lab's trace"] == host.own_ns
    own = dict(zip(trace.table()["op"], trace.table()["self_ns"], strict=True))
    for name in ("Double", "Tensor.backward", "sum"):
        assert found[name] == own[name]
    other = self_times(profile, 1)
    for name in ("add", "multiply"):
        assert found[name] + other[name] == own[name]


def test_each_thread_is_a_profile(profile):
    assert [each["name"] for each in profile["profiles"]] == ["the cell's thread", "thread 1"]


def test_a_limited_trace_says_nothing_of_the_time_between_ops():
    text = json.dumps([frame["name"] for frame in _profile_of(traced(limit=5))["shared"]["frames"]])
    assert "outside Paddle" not in text


def _profile_of(trace):
    from paddle_lab.interchange.speedscope import speedscope

    return json.loads(speedscope(trace.view_record))
