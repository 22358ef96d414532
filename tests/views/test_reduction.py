"""What a notebook stores of a large trace: small, complete in its counts, and with a notice."""

from __future__ import annotations

import numpy as np
import pytest

from paddle_lab.analysis.answers import with_answers
from paddle_lab.trace.pack import pack
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import FINDING_TABLES, RECORD_TABLES, SCOPE_KINDS, VIEW_TABLES
from paddle_lab.trace.table import Table
from paddle_lab.trace.unpack import unpack
from paddle_lab.views.reduction.first_ops import first_ops
from paddle_lab.views.reduction.stored import stored_payload, without_detail
from paddle_lab.views.reduction.timeline import with_small_blocks_summed_up
from paddle_lab.words import say
from tests.trace.records import RecordWriter

BLOCKS = 40


def network(*, odd: int = -1, blocks: int = BLOCKS) -> Record:
    """Return blocks of four ops in a row, and the backward graph; ``odd`` has an op more."""
    w = RecordWriter()
    x, last = w.op("full", line=2), None
    with w.layer("net", "Net"):
        for block in range(blocks):
            with w.layer(f"net.blocks.{block}", "Block"):
                weight = w.parameter(f"net.blocks.{block}.weight")
                y = w.op("relu", w.op("linear", x, weight, line=10), line=11)
                if block == odd:
                    y = w.op("tanh", y, line=12)
                x = w.op("add", w.op("gelu", y, line=13), x, line=14)
                node = w.grad_node("AddGradNode", w.producer(x))
                leaf = w.grad_node("GradNodeAccumulation", parameter=weight)
                w.grad_edge(node, leaf)
                if last is not None:
                    w.grad_edge(node, last, slot=1)
                last = node
        w.op("sum", x, line=20)
    w.backward(last)
    return with_answers(w.record())


def chain(count: int) -> Record:
    w = RecordWriter()
    x = w.op("full")
    for line in range(1, count):
        x = w.op("tanh", x, line=line)
    return with_answers(w.record())


def timed_network() -> Record:
    """Return the network with times as they are measured, so that every op takes its room."""
    record, random = network(blocks=1000), np.random.default_rng(5)
    times = np.cumsum(random.integers(1, 4_000_000, (len(record.ops), 2)), axis=0)
    columns = {"start_ns": times[:, 0], "duration_ns": random.permutation(times[:, 1]) // 9}
    tables = {**record.tables, "ops": Table({**record.ops.columns, **columns})}
    return Record(tables, record.strings, record.origin)


def rounded_network() -> Record:
    """Return the timed network without the parts that a copy drops first."""
    return without_detail(timed_network())[0]


def op_names(record: Record) -> list[str]:
    return [record.text(code) for code in record.ops["name"].tolist()]


def test_a_small_trace_is_stored_as_it_is():
    record = network()
    payload = pack(record)
    assert stored_payload(record, payload) is payload


def test_the_first_ops_stay_with_their_grad_nodes():
    record = network()
    kept = 1 + 4 * 10 + 2
    stored = first_ops(record, kept)
    assert op_names(stored) == op_names(record)[:kept]
    made_by = stored.grad_nodes["op"]
    assert made_by[made_by >= 0].tolist() == [4 * (block + 1) for block in range(10)]
    assert (made_by < 0).sum() == 10
    assert len(stored.grad_edges) == 10 + 9
    assert (stored.op_edges["source"] < stored.op_edges["target"]).all()
    assert stored.layers["path"].tolist() == [stored.strings.index(one) for one in layers(11)]


def layers(count: int) -> list[str]:
    return ["net", *(f"net.blocks.{block}" for block in range(count))]


def test_a_group_that_lacks_its_last_ops_is_unlike_its_siblings():
    stored = first_ops(network(), 1 + 4 * 10 + 2)
    blocks = stored.groups["parent"] >= 0
    assert stored.groups["op_count"].tolist() == [4 * 10 + 2, *[4] * 10, 2]
    *whole, cut = stored.groups["structure"][blocks].tolist()
    assert len(set(whole)) == 1
    assert cut == -1


def test_backward_calls_after_the_last_op_are_left_out():
    record = network()
    assert len(first_ops(record, len(record.ops)).backward_members) == len(record.backward_members)
    stored = first_ops(record, 20)
    assert len(stored.backward_calls) == 0
    assert len(stored.backward_members) == len(stored.grad_roots) == 0
    assert len(stored.grad_nodes) > 0


def test_a_finding_about_a_later_op_stays_without_a_box():
    record = network()
    row = {**{name: [0, 0] for name in FINDING_TABLES["findings"]}, "op": [3, 30]}
    row["grad_node"] = [-1, -1]
    findings = Table.from_sequences(FINDING_TABLES["findings"], row)
    mark = {"finding": [0, 1], "role": [0, 0], "op": [3, 30], "grad_node": [-1, -1]}
    marks = Table.from_sequences(FINDING_TABLES["finding_marks"], mark)
    tables = {**record.tables, "findings": findings, "finding_marks": marks}
    stored = first_ops(Record(tables, record.strings, record.origin), 20)
    assert stored.findings["op"].tolist() == [3, -1]
    assert stored.finding_marks["op"].tolist() == [3]


@pytest.mark.parametrize("most", [1, BLOCKS + 6, 100])
def test_what_is_left_refers_to_rows_that_are_there(most):
    stored = first_ops(network(odd=3), most)
    for name, columns in VIEW_TABLES.items():
        for column, kind in columns.items():
            if kind.startswith("key:") and name in stored.tables:
                keys, target = stored.tables[name][column], stored.tables[kind[4:]]
                assert keys.max(initial=-1) < len(target), (name, column)
                assert keys.min(initial=0) >= -1
    for name in ("uses", "op_edges"):
        assert (stored.tables[name]["tensor"] >= 0).all()
    assert len(stored.op_groups) == len(stored.ops)
    assert len(stored.stack_frames) == len(stored.stacks)
    producers = stored.tensors["producer"]
    assert set(producers[stored.op_edges["tensor"]].tolist()) <= {
        *stored.op_edges["source"].tolist()
    }
    unpack(pack(stored))


def test_gradients_go_with_the_edges_that_they_passed():
    record = network()
    inner = int(np.flatnonzero(record.grad_nodes["parameter"][record.grad_edges["target"]] >= 0)[9])
    outer = int(np.flatnonzero(record.grad_edges["slot"] == 1)[20])
    schema = RECORD_TABLES["grad_stats"]
    rows = {
        **{name: [7, 7] for name in schema},
        "backward_call": [0, 0],
        "grad_edge": [inner, outer],
    }
    rows |= {"grad_node": record.grad_edges["source"][[inner, outer]].tolist()}
    rows |= {"shape": [0, 0], "dtype": [0, 0]}
    counted = {**{name: [1, 1] for name in RECORD_TABLES["grad_histograms"]}, "grad_stat": [0, 1]}
    tables = {
        **record.tables,
        "grad_stats": Table.from_sequences(schema, rows),
        "grad_histograms": Table.from_sequences(RECORD_TABLES["grad_histograms"], counted),
    }
    record = Record(tables, record.strings, record.origin)
    record.backward_calls["ops_before"][:] = 0
    stored = first_ops(record, 4 * 12)
    assert len(stored.grad_stats) == 1
    edge = int(stored.grad_stats["grad_edge"][0])
    assert stored.grad_edges["source"][edge] == stored.grad_stats["grad_node"][0]
    assert stored.grad_histograms["grad_stat"].tolist() == [0]


def test_a_smaller_limit_leaves_out_more_until_it_fits():
    record = network()
    whole = len(pack(record, level=6))
    sizes = []
    for part in (0.9, 0.7, 0.5):
        limit_bytes = int(whole * part)
        stored = stored_payload(record, pack(record), limit_bytes=limit_bytes)
        assert len(stored) <= limit_bytes
        told = unpack(stored).origin.notices[0]
        assert told.startswith("This notebook stores a reduced copy of the trace, without ")
        assert "Run the cell again" in told
        sizes.append(len(unpack(stored).ops))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] > 0


def test_where_nothing_fits_one_op_stands_for_all_and_a_notice_says_so():
    record = chain(5000)
    packed = stored_payload(record, pack(record), limit_bytes=10)
    assert len(packed) < 1700
    stored = unpack(packed)
    assert op_names(stored) == ["5,000 ops, not stored"]
    assert stored.ops["duration_ns"][0] == record.ops["duration_ns"].sum()
    assert stored.origin.notices[0].startswith(
        "This notebook stores a reduced copy of the trace, without its graph."
    )


def test_a_record_nested_thousands_deep_is_reduced():
    w = RecordWriter()
    parent = -1
    for depth in range(3000):
        parent = w.row("scopes", kind="region", name=f"part{depth}", parent=parent)
        w.row("ops", name="relu", scope=parent)
    record = with_answers(w.record())
    stored = stored_payload(record, pack(record), limit_bytes=4000)
    assert len(stored) <= 4000
    assert len(unpack(stored).ops) > 1


@pytest.mark.parametrize("largest", [50, 400])
def test_summed_up_blocks_keep_the_peak_and_are_named(largest):
    random = np.random.default_rng(largest)
    w = RecordWriter()
    starts = np.sort(random.integers(0, 100_000, 3000))
    ends = starts + random.integers(1, 9000, 3000)
    for i, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        kind = ("temporary", "activation", "gradient")[i % 3]
        size = int(random.integers(1, 5000))
        w.allocation(size, kind=kind, start_ns=start, end_ns=end if i % 50 else -1)
    for name, block in (("small", 2), ("later", 2900)):
        w.row("holders", allocation=block, kind="variable", name=name)
    record = with_answers(w.record())
    stored = with_small_blocks_summed_up(record, most_blocks=largest)
    for block, now in zip((2, 2900), stored.holders["allocation"].tolist(), strict=True):
        for name in ("bytes", "start_ns", "end_ns"):
            assert stored.allocations[name][now] == record.allocations[name][block]
    assert len(stored.allocations) < len(record.allocations) / 2
    times = np.unique(np.append(starts, ends))
    before, after = alive(record, times), alive(stored, times)
    peak = int(np.argmax(before))
    assert after[peak] == before[peak]
    assert after.max() == before[peak]
    # Sixty stretches follow the curve.
    assert np.abs(after - before).mean() < 0.1 * before.mean()
    sums = stored.allocations["scope"] == len(stored.scopes) - 1
    assert stored.text(int(stored.scopes["name"][-1])) == say("reports.reduced.blocks_here")
    assert SCOPE_KINDS[stored.scopes["kind"][-1]] == "sum"
    assert (~sums).sum() == largest
    assert (np.diff(stored.allocations["start_ns"]) >= 0).all()
    unpack(pack(stored))


def alive(record: Record, times: np.ndarray) -> np.ndarray:
    blocks = record.allocations
    end = np.where(blocks["end_ns"] < 0, 1 << 60, blocks["end_ns"])
    is_alive = (blocks["start_ns"] <= times[:, None]) & (end > times[:, None])
    return (is_alive * blocks["bytes"]).sum(axis=1)


def test_the_text_of_a_long_cell_is_left_out_and_said():
    w = RecordWriter()
    w.row("sources", file="long", cell=4, first_line=1, text="x" * 30_000)
    w.row("sources", file="short", cell=5, first_line=1, text="y = x")
    stored, told = without_detail(with_answers(w.record()))
    assert [stored.text(code) for code in stored.sources["text"].tolist()] == ["", "y = x"]
    assert told == ["times", "sources"]
    assert sum(map(len, stored.strings)) < 100


def test_what_a_copy_does_without_first_leaves_every_op():
    record = timed_network()
    limit_bytes = int(0.9 * len(pack(record, level=6)))
    stored = unpack(stored_payload(record, pack(record), limit_bytes=limit_bytes))
    assert len(stored.ops) == len(record.ops)
    for name in ("start_ns", "duration_ns"):
        assert (np.abs(stored.ops[name] - record.ops[name]) <= 512).all()
    told = stored.origin.notices[0]
    assert "without addresses of grad nodes and nanoseconds in the times of ops." in told
    _, dropped = without_detail(chain(300))
    assert "addresses" not in dropped


@pytest.mark.parametrize("over", [1.05, 1.1, 1.25])
def test_the_room_is_filled(over):
    record = rounded_network()
    limit_bytes = int(len(pack(record, level=6)) / over)
    packed = stored_payload(record, pack(record), limit_bytes=limit_bytes)
    stored = unpack(packed)
    assert 1 < len(stored.ops) < len(record.ops)
    assert len(packed) > 0.85 * limit_bytes
    told = f"the ops after the first {len(stored.ops):,}. "
    assert told in stored.origin.notices[0]


def test_the_nearer_the_limit_the_less_is_lost():
    record = rounded_network()
    whole = len(pack(record, level=6))
    left = [
        len(unpack(stored_payload(record, pack(record), limit_bytes=int(whole / over))).ops)
        for over in (1, 1.05, 1.15, 1.3, 2)
    ]
    assert left == sorted(left, reverse=True)
    assert left[0] == len(record.ops)
    assert left[1] > 0.6 * left[0]


def test_of_memory_as_many_blocks_stay_as_fit():
    w = RecordWriter()
    random = np.random.default_rng(3)
    starts = np.sort(random.integers(0, 10_000_000, 20_000)).tolist()
    for start in starts:
        size, duration = (int(random.integers(1, most)) for most in (100_000, 90_000))
        w.allocation(size, kind="activation", start_ns=start, end_ns=start + duration)
    record = with_answers(w.record())
    limit_bytes = int(len(pack(record, level=6)) / 1.3)
    stored = stored_payload(record, pack(record), limit_bytes=limit_bytes)
    assert len(stored) > 0.8 * limit_bytes
    assert len(unpack(stored).allocations) > 10_000
