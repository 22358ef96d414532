"""Which op reads the result of which op."""

from __future__ import annotations

from paddle_lab.analysis.graph.dataflow import op_edges
from paddle_lab.trace.schema import EDGE_KINDS
from tests.trace.records import RecordWriter


def edges(w: RecordWriter) -> list[tuple[int, int, int, str]]:
    table = op_edges(w.record())
    columns = [table[name].tolist() for name in ("source", "target", "slot", "kind")]
    return [(s, t, slot, EDGE_KINDS[kind]) for s, t, slot, kind in zip(*columns, strict=True)]


def test_a_result_feeds_every_op_that_takes_it():
    w = RecordWriter()
    a = w.op("full")
    b = w.op("relu", a)
    w.op("add", a, b)
    assert edges(w) == [(0, 1, 0, "data"), (0, 2, 0, "data"), (1, 2, 1, "data")]


def test_data_and_parameters_have_no_edges():
    w = RecordWriter()
    w.op("matmul", w.tensor("x"), w.parameter("fc.weight"))
    assert edges(w) == []


def test_a_tensor_taken_twice_is_two_edges():
    w = RecordWriter()
    a = w.op("full")
    w.op("multiply", a, a)
    assert edges(w) == [(0, 1, 0, "data"), (0, 1, 1, "data")]


def test_who_reads_after_an_in_place_change_hangs_on_what_changed_it():
    w = RecordWriter()
    h = w.op("pow")
    before = w.op("relu", h)
    changed = w.op("set_value", h, in_place=h)
    w.op("add", changed, before)
    assert edges(w) == [
        (0, 1, 0, "data"),
        (0, 2, 0, "data"),
        (2, 3, 0, "data"),
        (1, 3, 1, "data"),
    ]


def test_a_change_that_no_op_made_keeps_the_maker():
    w = RecordWriter()
    h = w.op("full")
    w.op("relu", w.tensor(previous=h.key, version=1))
    assert edges(w) == [(0, 1, 0, "data")]


def test_a_detached_tensor_hangs_on_its_source_without_a_gradient():
    w = RecordWriter()
    h = w.op("linear")
    once = w.tensor(detached_from=h.key)
    twice = w.tensor(detached_from=once.key)
    changed_twice = w.tensor(previous=twice.key)
    w.op("mean", changed_twice)
    w.op("relu", h)
    assert edges(w) == [(0, 1, 0, "detach"), (0, 2, 0, "data")]


def test_an_op_on_a_detached_tensor_makes_an_ordinary_result():
    w = RecordWriter()
    detached = w.tensor(detached_from=w.op("linear").key)
    w.op("mean", w.op("scale", detached))
    assert edges(w) == [(0, 1, 0, "detach"), (1, 2, 0, "data")]


def test_what_a_pylayers_ops_return_goes_to_its_own_op():
    w = RecordWriter()
    x = w.op("full")
    inner = w.op("sigmoid", x)
    result = w.op("Swish", x)
    w.row("uses", op=w.producer(result), tensor=inner.key, role="result", slot=0)
    w.op("mean", result)
    assert edges(w) == [(0, 1, 0, "data"), (0, 2, 0, "data"), (1, 2, 0, "data"), (2, 3, 0, "data")]


def test_an_op_that_takes_its_own_result_has_no_loop():
    w = RecordWriter()
    result = w.op("full_")
    w.row("uses", op=0, tensor=result.key, role="input", slot=0)
    assert edges(w) == []


def test_a_long_chain_of_detached_tensors_needs_no_recursion():
    w = RecordWriter()
    tensor = w.op("full")
    for _ in range(20_000):
        tensor = w.tensor(detached_from=tensor.key)
    w.op("relu", tensor)
    assert edges(w) == [(0, 1, 0, "detach")]
