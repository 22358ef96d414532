"""Paddle's event trees read as columns, compared with a recursion over Paddle's objects."""

from __future__ import annotations

import threading

import paddle
import pytest

import paddle_lab
from paddle_lab.capture.memory.log import event_tree
from paddle_lab.capture.memory.log.event_tree import read_trees
from paddle_lab.capture.memory.log.events import ALLOCATE, COLUMNS, FREE, NOT_READ, PLACES
from tests.capture.memory.kept_segments import keep_segments

ALLOCATED = COLUMNS.index("allocated_bytes")


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


@pytest.fixture
def trees(monkeypatch):
    """Event trees of what two threads did; the results that own them are held meanwhile."""
    segments = keep_segments(monkeypatch)
    with paddle_lab.memory():
        train_in_two_threads()
    held = [(segment.result, segment.result.get_data()) for segment in segments]
    yield [data for _, data in held]
    del held


def nodes_below(node):
    return [node, *(each for child in node.children_node for each in nodes_below(child))]


def test_every_event_of_paddles_is_a_row(trees, monkeypatch):
    monkeypatch.setattr(event_tree, "_AT_ONCE", 100)  # several readings
    count = 0
    for data in trees:
        events = read_trees(data, has_devices=True).events
        expected = [
            (
                event.timestamp_ns,
                ALLOCATE if event.increase_bytes > 0 else FREE,
                event.addr,
                abs(event.increase_bytes),
                event.current_allocated,
                PLACES.number(event.place),
                thread,
            )
            for thread, root in data.items()
            for node in nodes_below(root)
            for event in node.mem_node
        ]
        rows = events.tolist()
        told = [(*row[:5], *row[6:8]) for row in rows]
        assert sorted(told) == sorted(expected)
        count += len(rows)
    assert count > 500
    assert any(len(data) > 1 for data in trees)


def test_grad_nodes_that_ran_are_told_and_no_kernels(trees):
    runs = 0
    for data in trees:
        told = read_trees(data, has_devices=False).runs
        expected = [
            (node.name.removeprefix("Global_"), node.start_ns, node.end_ns, thread)
            for thread, root in data.items()
            for node in nodes_below(root)
            if node.name.startswith("Global_")
        ]
        columns = (column.tolist() for column in vars(told).values())
        assert sorted(zip(*columns, strict=True)) == sorted(expected)
        runs += len(expected)
    assert runs > 10


def test_on_a_host_alone_the_counter_is_read_of_a_part(trees):
    for data in trees:
        part, whole = (read_trees(data, has_devices=has)[0] for has in (False, True))
        is_read = part[:, ALLOCATED] != NOT_READ
        assert (part[is_read, ALLOCATED] == whole[is_read, ALLOCATED]).all()
        assert is_read.sum() < len(is_read) or len(is_read) <= 64 * len(data)
