"""Groups from the calls of layers, regions and PyLayers."""

from __future__ import annotations

import numpy as np

from paddle_lab.analysis.answers import with_answers
from paddle_lab.trace.schema import GROUP_KINDS
from tests.analysis.drawn_tree import tree
from tests.trace.records import RecordWriter


def column(record, name):
    return [record.text(int(code)) for code in record.groups[name]]


def test_a_call_of_a_layer_is_a_group_labelled_from_its_parent():
    w = RecordWriter()
    with w.layer("net", "Net"):
        with w.layer("net.encoder.0", "Block"), w.layer("net.encoder.0.fc", "Linear"):
            w.op("linear")
        w.op("relu")
    w.op("mean")
    assert tree(w.record()) == [["net", ["encoder.0", ["fc", "linear"]], "relu"], "mean"]
    view = with_answers(w.record())
    assert column(view, "path") == ["net", "net.encoder.0", "net.encoder.0.fc"]
    assert column(view, "class") == ["Net", "Block", "Linear"]
    assert view.groups["op_count"].tolist() == [2, 1, 1]


def test_a_layer_called_twice_is_two_groups():
    w = RecordWriter()
    with w.layer("net"):
        with w.layer("net.relu"):
            w.op("relu")
        w.op("conv2d")
        with w.layer("net.relu"):
            w.op("relu")
    assert tree(w.record()) == [["net", ["relu", "relu"], "conv2d", ["relu", "relu"]]]


def test_scopes_without_ops_are_left_out():
    w = RecordWriter()
    with w.layer("net"), w.layer("net.identity"):
        pass
    with w.scope("region", "nothing"), w.scope("backward", "Tensor.backward"):
        pass
    w.op("mean")
    assert tree(w.record()) == ["mean"]


def test_a_layer_inside_a_region_keeps_its_path_and_a_region_shows_where_it_is():
    w = RecordWriter()
    with w.layer("net"), w.scope("region", "attention"):
        with w.layer("net.q_proj"):
            w.op("linear")
        w.op("softmax")
    assert tree(w.record()) == [["net", ["attention", ["q_proj", "linear"], "softmax"]]]
    assert column(with_answers(w.record()), "path") == ["net", "net / attention", "net.q_proj"]


def test_a_path_that_only_looks_like_the_parents_is_kept_whole():
    w = RecordWriter()
    with w.layer("net"), w.layer("network.fc"):
        w.op("linear")
    assert tree(w.record()) == [["net", ["network.fc", "linear"]]]


def test_a_pylayers_op_is_in_its_group_with_the_ops_inside():
    w = RecordWriter()
    with w.scope("pylayer", "Swish", op=2):
        w.op("sigmoid")
        w.op("multiply")
    w.op("Swish")
    with w.scope("backward", "Tensor.backward"), w.scope("pylayer", "Swish", op=2):
        w.op("multiply", phase="backward")
    assert tree(w.record()) == [
        ["Swish", "sigmoid", "multiply", "Swish"],
        ["Tensor.backward", ["Swish", "multiply"]],
    ]


def test_a_pylayer_without_ops_inside_is_its_op_alone():
    w = RecordWriter()
    with w.scope("pylayer", "Custom", op=0):
        pass
    w.op("Custom")
    assert tree(w.record()) == ["Custom"]


def test_groups_come_in_order_parents_first():
    w = RecordWriter()
    for i in range(30):
        with w.layer("a"), w.layer(f"a.{i}"):
            w.op("relu")
    view = with_answers(w.record())
    parent, first_op = view.groups["parent"], view.groups["first_op"]
    rows = np.arange(len(parent))
    assert (parent < rows).all()
    assert (np.diff(first_op) >= 0).all()
    assert view.groups["scope"].tolist() == sorted(view.groups["scope"].tolist())


def test_kinds_are_those_of_scopes():
    w = RecordWriter()
    for kind in ("layer", "region", "pylayer", "backward", "optimizer"):
        with w.scope(kind, kind):
            w.op("relu")
    kinds = with_answers(w.record()).groups["kind"].tolist()
    assert [GROUP_KINDS[kind] for kind in kinds] == [
        "layer",
        "region",
        "pylayer",
        "backward",
        "optimizer",
    ]


def test_an_empty_record_has_no_groups():
    view = with_answers(RecordWriter().record())
    assert [len(view.tables[name]) for name in ("groups", "op_groups", "op_edges")] == [0, 0, 0]


def test_the_records_own_strings_keep_their_codes():
    record = RecordWriter().record()
    record.strings.append("twice")
    record.strings.append("twice")
    assert with_answers(record).strings[: len(record.strings)] == record.strings


def test_ten_thousand_nested_layers_need_no_recursion():
    w = RecordWriter()
    for _ in range(10_000):
        w._scope = w.row("scopes", kind="region", name="r", parent=w._scope)
    w.op("relu")
    view = with_answers(w.record())
    assert view.groups["op_count"].tolist() == [1] * 10_000


def test_ops_that_paddles_loader_calls_are_marked_as_those_of_initializers_are():
    w = RecordWriter()
    with w.call("_thread_loop", file="/paddle/io/dataloader/dataloader_iter.py", kind="paddle"):
        with w.call("__getitem__", file="/paddle/io/dataloader/dataset.py", kind="paddle"):
            w.op("relu")
        with w.call("__getitem__"):  # a dataset of the user's
            w.op("relu")
            with w.call("normalize", file="/paddle/vision/transforms.py", kind="paddle"):
                w.op("relu")
        with w.call("default_collate_fn", file="/paddle/io/dataloader/collate.py", kind="paddle"):
            w.op("relu")
    w.op("relu")
    assert with_answers(w.record()).op_groups["is_initial"].tolist() == [1, 0, 0, 1, 0]
