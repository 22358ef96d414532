"""Event trees tell the same, read where they lie in memory and asked of Paddle's objects."""

from __future__ import annotations

import random
import threading

import numpy as np
import paddle
import pytest

import paddle_lab
from paddle_lab.capture.memory import event_walk
from paddle_lab.capture.memory.event_columns import COLUMNS, NOT_READ
from paddle_lab.capture.memory.event_layout import EVENT_LAYOUT, EventLayout
from paddle_lab.capture.memory.event_walk import walk_events, walk_objects
from paddle_lab.capture.native import NATIVE
from tests.capture.kept_segments import keep_segments
from tests.capture.made_events import MadeEvent, made_node, made_trees

pytestmark = pytest.mark.skipif(NATIVE is None, reason="the native hot path was not built")

ALLOCATED = COLUMNS.index("allocated_bytes")


def trees_of(monkeypatch, work):
    """Return the event trees of what ``work`` does, and what owns them."""
    segments = keep_segments(monkeypatch)
    with paddle_lab.memory():
        work()
    return [(segment.result, segment.result.get_data()) for segment in segments]


def train_in_two_threads():
    layer = paddle.nn.Linear(3, 5)

    def step():
        data = paddle.rand([7, 3])
        for _ in range(40):
            joined = paddle.concat([layer(data), layer(data).tanh()])
        joined.mean().backward()

    thread = threading.Thread(target=step)
    thread.start()
    step()
    thread.join()
    step()
    layer.clear_gradients()


def assert_same(first, second):
    (table, places, names, runs), (others, other_places, other_names, other_runs) = first, second
    assert len(table) == len(others)
    assert places == other_places
    assert names == other_names
    assert runs.tolist() == other_runs.tolist()
    is_read = (table[:, ALLOCATED] != NOT_READ) & (others[:, ALLOCATED] != NOT_READ)
    for column, name in enumerate(COLUMNS):
        rows = is_read if column == ALLOCATED else slice(None)
        assert table[rows, column].tolist() == others[rows, column].tolist(), name


@pytest.mark.parametrize("has_devices", [False, True])
def test_both_walks_tell_the_same(monkeypatch, has_devices):
    held = trees_of(monkeypatch, train_in_two_threads)
    assert EVENT_LAYOUT.knows_events
    assert EVENT_LAYOUT.knows_nodes
    monkeypatch.setattr(event_walk, "walk_objects", lambda *_, **__: pytest.fail("not in place"))
    count = runs = 0
    for _, trees in held:
        in_place = walk_events(trees, has_devices=has_devices)
        assert_same(in_place, walk_objects(trees, has_devices=has_devices))
        assert NOT_READ not in in_place[0][:, ALLOCATED]
        count += len(in_place[0])
        runs += len(in_place[2])
    assert count > 500
    # A grad node that runs while one segment ends and the next begins is in neither.
    assert runs > 10
    assert any(len(trees) > 1 for _, trees in held)


@pytest.fixture
def layout(monkeypatch):
    layout = EventLayout()
    monkeypatch.setattr(event_walk, "EVENT_LAYOUT", layout)
    return layout


DEVICE = "Place(gpu:0)"


@pytest.mark.parametrize("reserves", [False, True], ids=["", "pinned"])
@pytest.mark.parametrize("places", [["Place(cpu)"], ["Place(cpu)", DEVICE, "Place(gpu:1)"]])
def test_what_lies_elsewhere_is_learned(monkeypatch, layout, places, reserves):
    trees = made_trees(*places * 4, reserves=reserves)
    expected = walk_objects(trees, has_devices=True)
    monkeypatch.setattr(event_walk, "walk_objects", lambda *_, **__: pytest.fail("not in place"))
    assert_same(walk_events(trees, has_devices=True), expected)
    assert layout.offsets[1:5] == (8, 64, 32, 0)
    assert sorted(expected[1]) == sorted(places)
    told = expected[0][expected[0][:, COLUMNS.index("place")] == expected[1].index("Place(cpu)")]
    assert set(told[:, COLUMNS.index("kind")].tolist()) == set(range(4 if reserves else 2))
    assert "GradNode6" in expected[2]
    assert not any("Kernel" in name for name in expected[2])


def test_events_of_a_device_wait_until_theirs_are_known(layout):
    host = made_trees(*["Place(cpu)"] * 9)
    walk_events(host, has_devices=True)
    assert layout.offsets[-1] == -1
    # A single event of a device does not tell where its counter stands.
    few = {4: made_node(random.Random(5), name="root", places=[DEVICE])}
    assert NATIVE.read_event_trees(few, layout.offsets, True) is None
    assert_same(walk_events(few, has_devices=True), walk_objects(few, has_devices=True))
    many = made_trees("Place(cpu)", DEVICE)
    assert_same(walk_events(many, has_devices=True), walk_objects(many, has_devices=True))
    assert layout.offsets[-1] == MadeEvent.current_reserved.offset


def test_what_stands_twice_is_asked_of_the_objects(layout):
    trees = made_trees(*["Place(cpu)"] * 9)
    pending = list(trees.values())
    while pending:
        node = pending.pop()
        pending += node.children_node
        for event in node.mem_node:
            event.peak_allocated = event.current_allocated
    assert_same(walk_events(trees, has_devices=False), walk_objects(trees, has_devices=False))
    assert not layout.knows_events
    assert layout.knows_nodes
    next(iter(trees.values())).mem_node[0].peak_allocated = 1
    walk_events(trees, has_devices=False)
    assert layout.knows_events


@pytest.mark.parametrize(
    "attribute",
    [
        "children",
        "events",
        "name",
        "start_ns",
        "end_ns",
        "time_ns",
        "address",
        "change",
        "allocated",
    ],
)
@pytest.mark.parametrize("wrong", [-8, 4, 16, 400])
def test_a_wrong_guess_is_noticed_and_harmless(monkeypatch, layout, attribute, wrong):
    held = of_a_step(monkeypatch)
    expected = [walk_objects(trees, has_devices=False) for _, trees in held]
    for _, trees in held:
        walk_events(trees, has_devices=False)
    assert layout.knows_nodes
    for (_, trees), known in zip(held, expected, strict=True):
        guess = getattr(layout, attribute).offset + wrong
        monkeypatch.setattr(getattr(layout, attribute), "_offsets", {max(guess, 0)})
        monkeypatch.setattr(layout, "_readings", 0)
        assert_same(walk_events(trees, has_devices=False), known)


def test_first_readings_are_confirmed_and_some_of_the_later_ones(layout):
    doubted = [number for number in range(1, 40) if layout.is_doubted()]
    assert doubted == [1, 2, 3, 4, 16, 32]
    layout.forget()
    assert layout.is_doubted()


HELD = []


def of_a_step(monkeypatch):
    if not HELD:
        HELD.extend(trees_of(monkeypatch, train_in_two_threads))
    return HELD


def test_memory_that_is_not_there_is_not_read():
    assert NATIVE.copied_memory(8, 64) == b""
    content = np.arange(1000)
    address = content.__array_interface__["data"][0]
    assert NATIVE.copied_memory(address, content.nbytes) == content.tobytes()
    assert NATIVE.held_address(object()) == 0
    with pytest.raises(ValueError, match="not negative"):
        NATIVE.copied_memory(address, -1)
