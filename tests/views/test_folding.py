"""Which rows and frames a static picture has."""

from __future__ import annotations

import numpy as np
import paddle
import pytest

import paddle_lab
from paddle_lab.analysis.answers import with_answers
from paddle_lab.trace.record import Record
from paddle_lab.views.svg.folding import Folded, fold, keep_rows
from paddle_lab.views.svg.group_items import fold_label
from paddle_lab.views.svg.ladder_edges import assign_lanes, backward_edges, forward_edges
from tests.trace.records import RecordWriter


def encoder(blocks: int) -> Record:
    """``full``, ``blocks`` blocks of linear, relu and a residual add, then ``mean``."""
    w = RecordWriter()
    x = w.op("full")
    with w.layer("net", "Encoder"):
        for i in range(blocks):
            with w.layer(f"net.layers.{i}", "Block"):
                y = w.op("linear", x, w.parameter(f"net.layers.{i}.weight"))
                x = w.op("add", w.op("relu", y), x)
    w.op("mean", x)
    nodes = [w.grad_node(f"N{op}", op) for op in range(1, len(w.tables["ops"]))]
    for left, right in zip(nodes[1:], nodes[:-1], strict=True):
        w.grad_edge(left, right)
    return with_answers(w.record())


def labels(record: Record, folded: Folded) -> list[str]:
    names, groups = record.ops["name"], record.groups
    return [
        record.text(int(names[row.ops[0]]))
        if row.ops and not row.is_gap
        else f"{record.text(int(groups['label'][row.groups[0]]))} ×{len(row.groups)}"
        if not row.is_gap
        else f"gap of {len(row.ops)}"
        for row in folded.rows
    ]


def test_blocks_alike_are_drawn_once():
    record = encoder(12)
    folded = fold(record)
    assert labels(record, folded) == ["full", "linear", "relu", "add", "mean"]
    net, block = folded.frames
    assert (net.first, net.last, net.depth, len(net.item.groups)) == (1, 3, 0, 1)
    assert (block.first, block.last, block.depth, len(block.item.groups)) == (1, 3, 1, 12)


@pytest.mark.parametrize(
    ("depth", "expected"),
    [
        (0, ["full", "net ×1", "mean"]),
        (1, ["full", "layers.0 ×12", "mean"]),
        (2, ["full", "linear", "relu", "add", "mean"]),
        (9, ["full", "linear", "relu", "add", "mean"]),
    ],
)
def test_depth_says_how_many_levels_are_open(depth, expected):
    record = encoder(12)
    assert labels(record, fold(record, depth=depth)) == expected


def test_ops_of_repetitions_are_in_the_rows_of_the_first():
    folded = fold(encoder(3))
    assert folded.row_of_op.tolist() == [0, *[1, 2, 3] * 3, 4]
    assert folded.is_shown.tolist() == [True] * 4 + [False] * 6 + [True]


def test_edges_into_and_out_of_repetitions_are_kept_and_those_between_them_are_not():
    record = encoder(3)
    folded = fold(record)
    assert [edge[:2] for edge in forward_edges(record, folded)] == [
        (0, 1),
        (0, 3),
        (1, 2),
        (2, 3),
        (3, 4),
    ]
    assert [edge[:2] for edge in backward_edges(record, folded)] == [(2, 1), (3, 2), (4, 3)]


def test_a_closed_group_gathers_its_edges():
    record = encoder(3)
    folded = fold(record, depth=0)
    assert [edge[:2] for edge in forward_edges(record, folded)] == [(0, 1), (1, 2)]
    assert folded.row_of_op.tolist() == [0, *[1] * 9, 2]


def test_nested_repetitions_are_found_in_the_first():
    w = RecordWriter()
    for outer in range(3):
        with w.layer(f"outer.{outer}"):
            for inner in range(4):
                with w.layer(f"outer.{outer}.{inner}"):
                    w.op("linear")
                    w.op("relu")
            w.op("add")
    folded = fold(with_answers(w.record()))
    assert folded.row_of_op.tolist() == [*[0, 1] * 4, 2] * 3
    assert [len(frame.item.groups) for frame in folded.frames] == [3, 4]


def test_groups_are_opened_while_the_rows_fit():
    w = RecordWriter()
    for group, count in (("small", 5), ("large", 40)):
        with w.layer(group):
            for _ in range(count):
                w.op("relu")
    record = with_answers(w.record())
    assert labels(record, fold(record, most_rows=20)) == [*["relu"] * 5, "large ×1"]


def test_too_many_rows_leave_a_gap():
    w = RecordWriter()
    for _ in range(100):
        w.op("relu")
    record = with_answers(w.record())
    folded = fold(record, most_rows=30)
    assert labels(record, folded) == [*["relu"] * 20, "gap of 71", *["relu"] * 9]
    assert folded.row_of_op.tolist() == [*range(20), *[20] * 71, *range(21, 30)]


def test_frames_shrink_with_the_gap():
    w = RecordWriter()
    for group in range(3):
        with w.scope("region", f"r{group}"):
            for _ in range(40 + group):
                w.op("relu")
    folded = fold(with_answers(w.record()), depth=1, most_rows=30)
    assert [(frame.first, frame.last) for frame in folded.frames] == [(0, 20), (20, 29)]


def test_optimizer_steps_stay_closed():
    w = RecordWriter()
    with w.scope("optimizer", "Adam"):
        for _ in range(3):
            w.op("adam_", phase="optimizer")
    record = with_answers(w.record())
    assert labels(record, fold(record, depth=5)) == ["Adam ×1"]


def test_rows_can_be_taken_away():
    folded = fold(encoder(3))
    keep_rows(folded, np.asarray([False, True, False, True, True]))
    assert len(folded.rows) == 3
    assert folded.row_of_op.tolist() == [-1, *[0, -1, 1] * 3, 2]
    assert [(frame.first, frame.last) for frame in folded.frames] == [(0, 1), (0, 1)]
    keep_rows(folded, np.asarray([False, False, True]))
    assert folded.frames == []


@pytest.mark.parametrize(
    ("first", "last", "label"),
    [
        ("layers.0", "layers.11", "layers.0–11"),
        ("iteration 1", "iteration 500", "iteration 1–500"),
        ("relu", "relu", "relu"),
        ("query", "value", "query … value"),
        ("a1", "b2", "a1 … b2"),
    ],
)
def test_a_run_has_one_label(first, last, label):
    assert fold_label(first, last) == label


def test_lanes_keep_lines_apart_and_short_ones_near():
    spans = [(0, 10), (2, 4), (4, 8), (3, 6)]
    lanes = assign_lanes(spans, most=7)
    assert lanes[1] == 0
    assert lanes[0] == max(lanes)
    for i, (a, b) in enumerate(spans):
        for j, (c, d) in enumerate(spans[:i]):
            if a < d and c < b:
                assert lanes[i] != lanes[j]


def test_when_lanes_run_out_the_last_one_takes_the_rest():
    assert max(assign_lanes([(0, 9)] * 5, most=2)) == 1


def test_initializers_of_a_model_made_in_the_cell_get_no_rows():
    with paddle_lab.trace() as trace:
        nets = [paddle.nn.Linear(4, 4) for _ in range(3)]
        x = paddle.ones([2, 4])
        for net in nets:
            x = net(x)
    record = with_answers(trace.record)
    assert fold(record).is_shown.sum() == 4
    assert labels(record, fold(record)) == ["full", "net 1 ×1", "net 2 ×1", "net 3 ×1"]
    with paddle_lab.trace() as alone:
        paddle.nn.Linear(4, 4)
    record = with_answers(alone.record)
    assert fold(record).is_shown.all()
