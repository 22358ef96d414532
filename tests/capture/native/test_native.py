"""The native hot path and its Python twins do the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import paddle_lab
from paddle_lab.capture import native
from paddle_lab.capture.grad_fn import GRAD_FN
from paddle_lab.capture.recorder.recorder import SINKS
from paddle_lab.capture.rows.cells import OP_CELLS, TENSOR_CELLS
from paddle_lab.capture.rows.tape import cells_of, row_starts, rows_of, sorted_rows
from tests.capture.native.twins import NOT_BUILT, PYTHON, on_both_twins

TRACE_IT = """
import json, sys
import numpy as np
import paddle, paddle_lab
from paddle_lab.trace.schema import RECORD_TABLES
from tests.models import MODELS

def many_outputs():
    net = paddle.nn.Sequential(paddle.nn.Linear(4, 6), paddle.nn.BatchNorm1D(6))
    optimizer = paddle.optimizer.AdamW(parameters=net.parameters())
    momentum = paddle.optimizer.Momentum(parameters=net.parameters())

    def step(_):
        hidden = net(paddle.rand([5, 4]))
        left, *others = paddle.split(hidden, 3, axis=1)
        values, places = paddle.topk(left, 1)
        nothing = paddle.zeros([0, 3])
        moved = paddle.rand([2, 6]).reshape_([3, 4]).add_(paddle.ones([3, 4]))
        product = hidden * 2
        product.scale_(0.5).unsqueeze_(0)
        for parts in (paddle.concat([nothing, nothing]).unbind(1), paddle.unstack(moved)):
            parts[0].abs()
        (values.sum() + others[0].mean() + product.sum()).backward()
        optimizer.step()
        momentum.step()
        optimizer.clear_grad()
        net(paddle.rand([5, 4]))

    return step

def arguments():
    functional = paddle.nn.functional

    def step(_):
        x, w = paddle.rand([4, 6]), paddle.rand([6, 6])
        w.stop_gradient = False
        for at in range(2):
            functional.softmax(x, axis=-1)
            paddle.matmul(x=x, y=w, transpose_y=at == 1)
            paddle.concat([x, x], axis=at)
            paddle.stack(x=(x, x + 1))
            x.sum(axis=[0, 1], keepdim=True), x.sum(axis=(0,), keepdim=False)
            functional.pad(x, [1, 1, at, 0]), paddle.full([2, at + 1], 1.0), paddle.full([2], at)
            x[at], x[:, 1], x[1:3, ::2], x[..., at], x[None, 0], x[paddle.to_tensor([0, 1])]
            x[1:3], x[True], x[[0, 1]], x[np.array([0, 2])], x[at : paddle.to_tensor(3)]
            x[at] = x[2]
            x[:, 1:3] = 0.5
            x[x > 2] = 1
            paddle.einsum("ij,jk->ik", x, w)
            paddle.split(x, num_or_sections=[2, -1], axis=1)
            paddle.where(x > 0.5, x, paddle.zeros_like(x))
        (x @ w).mean().backward()

    return step

model = {**MODELS, "many_outputs": many_outputs, "arguments": arguments}[sys.argv[1]]
paddle.seed(7)
step = model()
with paddle_lab.trace() as trace:
    step(lambda roots: None)
record = trace.record
TIMES = ("start_ns", "duration_ns", "own_ns", "address")
tables = {
    name: {
        column: [record.text(cell) if kind == "str" else cell for cell in table[column].tolist()]
        for column, kind in RECORD_TABLES[name].items()
        if column not in TIMES
    }
    for name, table in record.tables.items()
}
json.dump([tables, record.origin.notices], sys.stdout)
"""


def traced(model: str, *, pure_python: bool) -> Any:
    environment = {**os.environ, "PADDLE_LAB_PURE_PYTHON": "1" if pure_python else ""}
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", TRACE_IT, model],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    return json.loads(run.stdout[run.stdout.index("[{") :])


@NOT_BUILT
@pytest.mark.parametrize(
    "model", ["lenet", "transformer_encoder", "gan", "lstm", "many_outputs", "arguments"]
)
def test_both_record_the_same(model):
    assert traced(model, pure_python=False) == traced(model, pure_python=True)


def test_each_tensor_is_recorded_with_the_grad_node_it_hangs_on():
    import paddle

    made = [paddle.rand([3, 4])]
    made[0].stop_gradient = False
    with paddle_lab.trace():
        (recorder,) = SINKS.active
        for number in range(400):
            last = made[-1]
            made.append(last * 2 if number % 3 else last.tanh())
            if number % 50 == 0:
                made[-1] = made[-1].detach()
                made[-1].stop_gradient = False
        pool = recorder.tensors
        recorded = [pool.grad_address(pool.known_key(tensor)) for tensor in made]
        expected = [None if tensor.is_leaf else GRAD_FN.address(tensor) for tensor in made]
    assert recorded == expected
    assert None in recorded
    assert len(set(recorded)) > 300


@on_both_twins
@given(st.lists(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), min_size=3, max_size=3)))
def test_a_tape_keeps_every_integer(parts, rows):
    tape = parts.Tape()
    for row in rows:
        tape.extend(row)
    assert len(tape) == 3 * len(rows)
    assert list(map(list, rows_of(tape, 3))) == rows
    assert list(map(list, rows_of(tape, 3, 1))) == rows[1:]


def tape_of(parts, rows):
    tape = parts.Tape()
    for row in rows:
        tape.extend(row)
    return tape


@on_both_twins
def test_a_tape_takes_nothing(parts):
    tape = parts.Tape()
    tape.extend([])
    assert (len(tape), tape.to_list()) == (0, [])


@on_both_twins
def test_a_tape_tells_where_its_rows_begin(parts):
    rows = [[7, 0, 0], [8, 2, 1, 1, 2, 3], [9, 0, 1, 4]]
    tape = tape_of(parts, rows)
    assert cells_of(tape).tolist() == [cell for row in rows for cell in row]
    assert row_starts(tape, 3).tolist() == [0, 3, 9]
    assert row_starts(tape, 3, 9).tolist() == [9]
    assert row_starts(tape, 3, 13).tolist() == []


@on_both_twins
def test_positions_on_a_tape_stay_when_cells_are_given_up(parts):
    tape = tape_of(parts, [[7, 0, 0], [8, 2, 1, 1, 2, 3], [9, 0, 1, 4]])
    tape.replace(9, cells_of(tape, 0, 3).tobytes())
    assert (tape.start, len(tape)) == (6, 13)
    assert tape.to_list() == tape.to_list(0, 13) == [7, 0, 0, 9, 0, 1, 4]
    assert tape.to_list(9, 10) == [9]
    assert row_starts(tape, 3).tolist() == [6, 9]
    tape.replace(9, b"")
    tape.extend([1, 0, 0])
    assert cells_of(tape).tolist() == [9, 0, 1, 4, 1, 0, 0]
    for end, cells in [(8, b""), (17, b""), (10, cells_of(tape, 9, 11).tobytes())]:
        with pytest.raises(ValueError, match="as many at most"):
            tape.replace(end, cells)
    assert cells_of(tape).tolist() == [9, 0, 1, 4, 1, 0, 0]


@on_both_twins
def test_rows_are_sorted_by_their_keys(parts):
    assert sorted_rows(tape_of(parts, [[2, 5], [0, 6], [1, 7]]), 2).tolist() == [
        [0, 6],
        [1, 7],
        [2, 5],
    ]


class Thing:
    pass


@on_both_twins
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 1 << 40)), max_size=600))
def test_a_table_knows_the_living_and_nothing_of_the_dead(parts, moves):
    table, expected = parts.ObjectTable(), {}
    for survives, number in moves:
        thing = Thing()
        assert table.find(thing) == -1, "an id was taken for the object that had it before"
        table.note(thing, number)
        assert table.find(thing) == number
        table.note(thing, number + 1)
        if survives:
            expected[thing] = number + 1
    del moves
    thing = None
    assert {thing: table.find(thing) for thing in expected} == expected
    assert dict(table.living()) == expected


@on_both_twins
def test_a_counter_counts_from_0(parts):
    count = parts.Counter()
    assert [count() for _ in range(4)] == [0, 1, 2, 3]


@on_both_twins
def test_a_tape_refuses_what_is_no_integer_and_stays_as_it_was(parts):
    if parts is PYTHON:
        pytest.skip("a list takes anything")
    tape = parts.Tape()
    tape.extend([1, 2])
    with pytest.raises(TypeError):
        tape.extend([3, "four"])
    with pytest.raises(OverflowError):
        tape.extend([1 << 64])
    assert tape.to_list() == [1, 2]


ADDRESSES = st.integers(1, 40).map(lambda number: number * 16)
OPS = st.integers(-1, 3)


@on_both_twins
@given(st.lists(st.tuples(ADDRESSES, OPS, st.one_of(st.none(), st.integers(0, 99))), max_size=400))
def test_addresses_are_known_by_their_ops_until_they_are_dropped(parts, moves):
    table, expected = parts.AddressTable(), {}
    for address, op, number in moves:
        if number is None:
            table.drop(address, op)
            expected.pop((address, op), None)
        else:
            table.note(address, op, number)
            expected[address, op] = number
    assert len(table) == len(expected)
    for address in range(0, 656, 16):
        for op in range(-1, 4):
            assert table.find(address, op) == expected.get((address, op), -1)


def op_row(key, name, inputs, outputs):
    given = [cell for slot, tensor in enumerate(inputs) for cell in (slot, tensor)]
    return [key, len(given), len(outputs), name, *[0] * (OP_CELLS - 4), *given, *outputs]


def tensor_row(key, producer, address):
    row = [0] * TENSOR_CELLS
    row[0], row[7], row[12] = key, producer, address
    return row


@on_both_twins
def test_lineage_tells_where_gradients_go_from_what_is_on_the_tapes(parts):
    ops, tensors = parts.Tape(), parts.Tape()
    lineage = parts.Lineage(ops, tensors)
    assert (lineage.inputs(0), lineage.maker(0), lineage.upstream(0)) == ([], (-1, 0), {})
    for row in [tensor_row(0, -1, 0), tensor_row(1, 0, 160), tensor_row(2, 1, 160)]:
        tensors.extend(row)
    ops.extend(op_row(0, 7, [0], [1]))
    # Op 1's output has the grad node of its input. A thread writes op 1's row after op 2's.
    ops.extend(op_row(2, 9, [2, 0], [3]))
    ops.extend(op_row(1, 8, [1], [2]))
    tensors.extend(tensor_row(3, 2, 320))
    assert [lineage.name_key(op) for op in (-1, 0, 1, 2, 3)] == [-1, 7, 8, 9, -1]
    assert lineage.inputs(2) == [0, 2, 1, 0]
    assert [lineage.grad_address(tensor) for tensor in range(5)] == [0, 160, 160, 320, 0]
    assert [lineage.row_at(address) for address in (0, 160, 320, 480)] == [-1, 2, 3, -1]
    assert [lineage.maker(tensor) for tensor in range(4)] == [(-1, 0), (0, 1), (0, 1), (2, 3)]
    assert lineage.upstream(2) == {160: (0, 2)}


@on_both_twins
def test_lineage_forgets_what_is_no_more_on_the_tapes(parts):
    ops, tensors = parts.Tape(), parts.Tape()
    lineage = parts.Lineage(ops, tensors)
    for key in range(6):
        ops.extend(op_row(key, key, [key], [key + 1]))
        tensors.extend(tensor_row(key + 1, key, 16 * key + 16))
    assert lineage.upstream(5) == {80: (4, 5)}
    width = OP_CELLS + 3
    ops.replace(5 * width, cells_of(ops, width, 2 * width).tobytes())
    tensors.replace(5 * TENSOR_CELLS, cells_of(tensors, TENSOR_CELLS, 2 * TENSOR_CELLS).tobytes())
    assert [lineage.name_key(op) for op in range(6)] == [-1, 1, -1, -1, -1, 5]
    assert [lineage.grad_address(tensor) for tensor in range(1, 7)] == [0, 32, 0, 0, 0, 96]
    assert lineage.row_at(80) == -1
    assert lineage.upstream(5) == {}


def test_an_update_is_recorded_as_the_parameter_is_then():
    import paddle

    layer = paddle.nn.Linear(2, 2)
    optimizer = paddle.optimizer.SGD(parameters=layer.parameters())
    layer.weight.stop_gradient = True
    with paddle_lab.trace() as trace:
        for is_frozen in (True, False, False):
            layer.weight.stop_gradient = is_frozen
            layer(paddle.ones([1, 2])).sum().backward()
            optimizer.step()
            optimizer.clear_grad()
    tensors, ops = trace.record.tensors, trace.record.ops
    updates = [
        row
        for row, producer in enumerate(tensors["producer"].tolist())
        if producer >= 0 and trace.record.text(ops["name"][producer]) == "sgd_"
    ]
    assert len(updates) == 5
    assert not tensors["stop_gradient"][updates].any()


@NOT_BUILT
def test_a_native_part_of_another_version_is_not_used_and_that_is_said(monkeypatch):
    monkeypatch.setattr(native, "VERSION", native.VERSION + 1)
    with pytest.warns(UserWarning, match="older source"):
        assert native._load() is None


def test_attributes_of_a_call_are_not_those_of_the_last_call_of_the_op() -> None:
    import paddle

    scales = (1, 1.0, 1.0, 2.0, 1, True)
    tensor = paddle.ones([2])
    for _ in range(2):
        with paddle_lab.trace() as trace:
            for scale in scales:
                paddle._C_ops.scale(tensor, scale, 0.0, True)
        record = trace.record
        told = [record.strings[one] for one in record.ops["attributes"].tolist()]
        assert [one.partition(",")[0] for one in told] == [f"scale={scale}" for scale in scales]
