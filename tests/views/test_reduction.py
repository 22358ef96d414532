"""What a notebook stores of a large trace: small enough, whole in what it tells, and honest."""

from __future__ import annotations

import numpy as np
import pytest

from paddle_lab.analysis.answers import with_answers
from paddle_lab.trace.pack import pack
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import SCOPE_KINDS
from paddle_lab.trace.table import Table
from paddle_lab.trace.unpack import unpack
from paddle_lab.views.reduction.contraction import contracted
from paddle_lab.views.reduction.ladder import stored_payload
from paddle_lab.views.reduction.leaving_out import (
    with_rounded_times,
    with_shorter_sources,
    without_addresses,
    without_evidence,
)
from paddle_lab.views.reduction.parts import equal_blocks, insides, middles
from paddle_lab.views.reduction.timeline import summed_up
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
    times = np.cumsum(random.integers(1, 4000, (len(record.ops), 2)) * 1024, axis=0)
    columns = {"start_ns": times[:, 0], "duration_ns": random.permutation(times[:, 1]) // 9}
    tables = {**record.tables, "ops": Table({**record.ops.columns, **columns})}
    whole = with_rounded_times(Record(tables, record.strings, record.origin), step_ns=1024)
    return without_evidence(without_addresses(whole))


def reached(sources: np.ndarray, targets: np.ndarray, start: int, end: int) -> bool:
    """Return whether a path of edges leads from one row to another."""
    seen, waiting = {start}, [start]
    while waiting:
        found = set(targets[sources == waiting.pop()].tolist()) - seen
        seen |= found
        waiting.extend(found)
    return end in seen


def totals(record: Record) -> tuple[int, int]:
    """Return how many ops and grad nodes a record stands for."""
    table = record.stand_ins
    of_ops = table["op"] >= 0
    more = table["count"] - 1
    return (
        len(record.ops) + int(more[of_ops].sum()),
        len(record.grad_nodes) + int(more[~of_ops].sum()),
    )


def test_a_small_trace_is_stored_as_it_is():
    record = network()
    payload = pack(record)
    assert stored_payload(record, payload) is payload


def test_equal_blocks_are_stored_once_and_told_in_full():
    record = network()
    stored = contracted(record, equal_blocks(record))
    assert len(stored.ops) == 1 + 4 + (BLOCKS - 1) + 1
    assert totals(stored) == (len(record.ops), len(record.grad_nodes))
    blocks = stored.groups["parent"] >= 0
    assert stored.groups["op_count"][blocks].tolist() == [4] * BLOCKS
    assert len(set(stored.groups["structure"][blocks].tolist())) == 1
    names = [stored.text(code) for code in stored.ops["name"].tolist()]
    assert names[1:5] == ["linear", "relu", "gelu", "add"]
    assert names[5] == "4 ops, not stored"


def test_what_stands_for_many_has_the_lines_that_all_of_them_share():
    w = RecordWriter()
    x = w.op("full", line=2)
    with w.layer("net", "Net"):
        for block in range(6):
            with w.layer(f"net.blocks.{block}", "Block"), w.call("forward", line=30 + block):
                x = w.op("tanh", w.op("relu", x, line=10), line=11)
    record = with_answers(w.record())
    stored = contracted(record, equal_blocks(record))
    for op in range(3, len(stored.ops)):
        stack = int(stored.ops["stack"][op])
        assert int(stored.frames["line"][stored.stacks["frame"][stack]]) == 28 + op
        assert stored.op_frames["frame"][op] == stored.stacks["frame"][stack]


def test_of_blocks_in_a_row_each_row_keeps_its_first():
    record = network(odd=7)
    in_a_row = contracted(record, equal_blocks(record, in_a_row=True))
    names = [in_a_row.text(code) for code in in_a_row.ops["name"].tolist()]
    assert names.count("linear") == 3
    assert [
        in_a_row.text(code) for code in contracted(record, equal_blocks(record)).ops["name"]
    ].count("linear") == 2


def test_of_equal_steps_the_first_keeps_its_equal_blocks():
    w = RecordWriter()
    x = w.op("full")
    for step in range(3):
        with w.layer(f"step.{step}", "Step"):
            for block in range(4):
                with w.layer(f"step.{step}.{block}", "Block"):
                    x = w.op("tanh", w.op("relu", x))
    record = with_answers(w.record())
    stored = contracted(record, equal_blocks(record, in_a_row=True, outermost=True))
    names = [stored.text(code) for code in stored.ops["name"].tolist()]
    assert names == ["full", *["relu", "tanh"] * 4, *["8 ops, not stored"] * 2]
    # What is left after that goes when that is not enough.
    stored = contracted(stored, equal_blocks(stored, in_a_row=True))
    names = [stored.text(code) for code in stored.ops["name"].tolist()]
    assert names[:4] == ["full", "relu", "tanh", "2 ops, not stored"]
    assert totals(stored)[0] == len(record.ops)
    assert not len(equal_blocks(chain(3), outermost=True).group)


def test_what_is_left_is_one_piece_forward_and_backward():
    record = network()
    for parts in (equal_blocks(record), middles(record, ends=3), insides(record, depth=1)):
        stored = contracted(record, parts)
        edges = stored.op_edges
        assert reached(edges["source"], edges["target"], 0, len(stored.ops) - 1)
        edges, root = stored.grad_edges, int(stored.grad_roots["grad_node"][0])
        first = int(np.flatnonzero(stored.grad_nodes["op"] >= 0)[0])
        assert reached(edges["source"], edges["target"], root, first)
        own = stored.grad_nodes["op"] >= 0
        groups = stored.op_groups["group"][stored.grad_nodes["op"][own]]
        assert stored.grad_node_groups["group"][own].tolist() == groups.tolist()


def test_the_odd_block_keeps_its_inside():
    record = network(odd=7)
    stored = contracted(record, equal_blocks(record))
    assert "tanh" in [stored.text(code) for code in stored.ops["name"].tolist()]


def test_the_middle_of_a_row_is_put_together():
    stored = contracted(chain(1000), middles(chain(1000), ends=10))
    assert [stored.text(code) for code in stored.ops["name"].tolist()][10] == "980 ops, not stored"
    assert len(stored.ops) == 21
    assert stored.op_edges["source"].tolist() == list(range(20))
    assert stored.op_edges["target"].tolist() == list(range(1, 21))


def test_stand_ins_that_are_put_together_again_count_all():
    record = network()
    once = contracted(record, equal_blocks(record))
    twice = contracted(once, insides(once, depth=0))
    assert totals(twice) == (len(record.ops), len(record.grad_nodes))
    leaves = twice.stand_ins["leaves"][twice.stand_ins["grad_node"] >= 0]
    assert leaves.sum() == BLOCKS


def test_a_smaller_limit_leaves_out_more_until_it_fits():
    record = network()
    whole = len(pack(record, level=9))
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


def test_where_nothing_fits_a_notice_is_stored():
    record = chain(50)
    stored = stored_payload(record, pack(record), limit_bytes=10)
    assert unpack(stored).origin.notices[0].startswith("This notebook stores a reduced copy")


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
    record = with_answers(w.record())
    stored = summed_up(record, largest=largest, stretches=60)
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


def test_of_a_long_file_the_lines_that_called_ops_stay_in_their_place():
    w = RecordWriter()
    text = "\n".join(f"line {number} {'x' * 40}" for number in range(1, 20_001))
    w.row("sources", file="cell", cell=4, first_line=1, text=text)
    w.op("relu", line=5)
    w.op("relu", line=15_000)
    record = with_shorter_sources(with_answers(w.record()))
    assert sum(map(len, record.strings)) < 3000
    pieces = {
        first: record.text(code).split("\n")[0].split()[1]
        for first, code in zip(
            *(record.sources[c].tolist() for c in ("first_line", "text")), strict=True
        )
    }
    assert pieces
    assert all(str(first) == number for first, number in pieces.items())
    assert 14_994 in pieces


@pytest.mark.parametrize("over", [1.05, 1.1, 1.25])
def test_the_room_is_filled_with_blocks_that_stay_open(over):
    record = timed_network()
    limit_bytes = int(len(pack(record, level=9)) / over)
    packed = stored_payload(record, pack(record), limit_bytes=limit_bytes)
    stored = unpack(packed)
    opened = [stored.text(code) for code in stored.ops["name"].tolist()].count("linear")
    assert 1 < opened < 1000
    assert len(packed) > 0.85 * limit_bytes
    assert "the inside of some equal blocks" in stored.origin.notices[0]


def test_the_nearer_the_limit_the_less_is_lost():
    record = timed_network()
    whole = len(pack(record, level=9))
    left = [
        len(unpack(stored_payload(record, pack(record), limit_bytes=int(whole / over))).ops)
        for over in (1, 1.05, 1.15, 1.3, 2)
    ]
    assert left == sorted(left, reverse=True)
    assert left[0] == len(record.ops)
    assert left[1] > 0.6 * left[0]


def test_of_rows_of_blocks_the_last_ones_go_first():
    record = network(odd=7)
    parts = equal_blocks(record, in_a_row=True, share=0.5)
    closed = sorted({record.text(code) for code in record.groups["path"][parts.group].tolist()})
    # Of seven blocks in a row three of the six behind the first, of 32 behind the odd one 16 of 31.
    wanted = [*range(4, 7), *range(24, 40)]
    assert closed == sorted(f"net.blocks.{block}" for block in wanted)
    assert not len(equal_blocks(record, in_a_row=True, share=0.0).group)


def test_of_memory_as_many_blocks_stay_as_fit():
    w = RecordWriter()
    random = np.random.default_rng(3)
    starts = np.sort(random.integers(0, 10_000_000, 20_000)).tolist()
    for start in starts:
        size, duration = (int(random.integers(1, most)) for most in (100_000, 90_000))
        w.allocation(size, kind="activation", start_ns=start, end_ns=start + duration)
    record = with_answers(w.record())
    limit_bytes = int(len(pack(record, level=9)) / 1.3)
    stored = stored_payload(record, pack(record), limit_bytes=limit_bytes)
    assert len(stored) > 0.8 * limit_bytes
    assert len(unpack(stored).allocations) > 10_000
