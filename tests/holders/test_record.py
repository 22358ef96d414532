"""Holders of a record's blocks, from records and living tensors made by hand."""

from __future__ import annotations

from paddle_lab.holders.living import BackwardGraph, LivingTensor
from paddle_lab.holders.record import unexplained_bytes, with_holders
from paddle_lab.holders.roots import Root
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import HOLDER_KINDS
from tests.trace.records import RecordWriter


def living(
    name: str, address: int, *, kind: str = "variable", size: int = 4096, storage: int = 4096
) -> LivingTensor:
    root = Root("variable", name, None)
    return LivingTensor(kind, name, root, address, storage, size, "cpu")


def rows(record: Record) -> list[tuple[int, str, str]]:
    table = record.holders
    return [
        (int(key), HOLDER_KINDS[kind], record.text(name))
        for key, kind, name in zip(
            table["allocation"], table["kind"], table["name"], strict=True
        )
    ]  # fmt: skip


def test_a_block_is_held_by_every_tensor_that_lies_in_it() -> None:
    w = RecordWriter()
    before = w.allocation(4096, address=0x1000, start_ns=-1, kind="parameter")
    y = w.op("matmul", w.tensor())
    freed = w.allocation(4096, tensor=y, address=0x3000, end_ns=10)
    kept = w.allocation(4096, tensor=y, address=0x2000)
    record = with_holders(
        w.record(),
        [
            living("y", 0x2000),
            living("Out[3]", 0x2000, kind="output"),
            living("net.weight", 0x1000, kind="container"),
            living("elsewhere", 0x3000),
            living("first", 0x2000, size=64),
        ],
        [],
    )
    assert rows(record) == [
        (before, "container", "net.weight"),
        (kept, "variable", "y"),
        (kept, "output", "Out[3]"),
        (kept, "view", "first"),
    ]
    assert freed not in record.holders["allocation"]
    assert unexplained_bytes(record) == 0


def test_a_padded_block_makes_no_view_of_a_whole_tensor() -> None:
    w = RecordWriter()
    w.allocation(512, address=0x1000)
    record = with_holders(w.record(), [living("x", 0x1000, size=40, storage=512)], [])
    assert rows(record) == [(0, "variable", "x")]


def test_what_no_tensor_holds_belongs_to_the_backward_graph_that_saved_it() -> None:
    w = RecordWriter()
    weight = w.parameter("weight")
    hidden = w.op("matmul", w.tensor(), weight)
    w.grad_node("MatmulGradNode", w.producer(hidden))
    statistics = w.op("layer_norm", hidden)
    w.grad_node("LayerNormGradNode", w.producer(statistics))
    other = w.op("exp", w.tensor())
    w.grad_node("ExpGradNode", w.producer(other))
    saved = w.allocation(100, tensor=hidden)
    hidden_output = w.allocation(200, op=w.producer(statistics))
    unknown = w.allocation(300, tensor=other)
    addresses = [0x7F00_0000_0000 + 64 * node for node in range(3)]
    graphs = [BackwardGraph(["loss", "scores[0]"], {addresses[1]})]

    record = with_holders(w.record(), [], graphs)
    assert rows(record) == [
        (saved, "backward_graph", "loss"),
        (saved, "backward_graph", "scores[0]"),
        (hidden_output, "backward_graph", "loss"),
        (hidden_output, "backward_graph", "scores[0]"),
        (unknown, "unknown", ""),
    ]
    assert unexplained_bytes(record) == 300


def test_a_block_of_the_backward_itself_is_not_saved_by_the_graph() -> None:
    w = RecordWriter()
    y = w.op("matmul", w.tensor())
    node = w.grad_node("MatmulGradNode", w.producer(y))
    w.allocation(100, op=w.producer(y), grad_node=node, kind="gradient")
    record = with_holders(w.record(), [], [BackwardGraph(["loss"], {0x7F00_0000_0000})])
    assert [kind for _, kind, _ in rows(record)] == ["unknown"]


def test_what_is_saved_by_way_of_a_view_belongs_to_the_graph_too() -> None:
    w = RecordWriter()
    made, other = w.op("full"), w.op("full")
    shaped = w.op("reshape", made)
    turned = w.op("transpose", shaped, other)
    result = w.op("matmul", turned)
    node = w.grad_node("MatmulGradNode", w.producer(result))
    viewed = w.allocation(100, tensor=made)
    w.allocation(200, tensor=other)  # no view of the second input
    address = 0x7F00_0000_0000 + 64 * node
    record = with_holders(w.record(), [], [BackwardGraph(["out"], {address})])
    assert rows(record)[0] == (viewed, "backward_graph", "out")
    assert unexplained_bytes(record) == 200

    copied = w.allocation(50, tensor=turned)  # so it has memory of its own
    record = with_holders(w.record(), [], [BackwardGraph(["out"], {address})])
    assert [(key, kind) for key, kind, _ in rows(record)] == [
        (viewed, "unknown"), (viewed + 1, "unknown"), (copied, "backward_graph"),
    ]  # fmt: skip


def test_what_a_pylayer_made_is_kept_by_its_graph_with_the_context() -> None:
    w = RecordWriter()
    with w.scope("pylayer", "Double") as called:
        inner = w.op("scale", w.tensor())
        with w.layer("block"):
            deeper = w.op("exp", inner)
    result = w.op("Double", w.tensor())
    w.tables["scopes"].set(called, "op", w.producer(result))
    node = w.grad_node("Double_backward", w.producer(result))
    outside = w.op("scale", w.tensor())
    in_context = w.allocation(100, op=w.producer(inner))
    in_layer = w.allocation(200, op=w.producer(deeper))
    w.allocation(300, op=w.producer(outside))
    address = 0x7F00_0000_0000 + 64 * node
    record = with_holders(w.record(), [], [BackwardGraph(["out"], {address})])
    assert rows(record)[:2] == [
        (in_context, "backward_graph", "out"),
        (in_layer, "backward_graph", "out"),
    ]
    assert unexplained_bytes(record) == 300


def test_a_block_has_few_holders_and_an_empty_record_none() -> None:
    w = RecordWriter()
    w.allocation(4096, address=0x1000)
    many = [living(f"x{i}", 0x1000) for i in range(100)]
    assert len(with_holders(w.record(), many, []).holders) == 8
    assert len(with_holders(Record.empty(), many, []).holders) == 0
