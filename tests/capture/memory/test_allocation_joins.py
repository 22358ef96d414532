"""The joins behind allocations, on cases written by hand and against slow, simple versions."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paddle_lab.capture.memory.attribution.backward_runs import innermost
from paddle_lab.capture.memory.attribution.block_tensors import outputs_of_ops
from paddle_lab.capture.memory.held.blocks import ALIVE, BEFORE, Blocks, pair_events
from paddle_lab.capture.memory.held.held_events import CountedTotals
from paddle_lab.capture.memory.log.events import ALLOCATE, FREE, HOST, AllocatorEvents
from paddle_lab.capture.memory.log.segments import ClockReading, to_perf_ns
from paddle_lab.capture.recorder.recorder import INPUT, OUTPUT
from paddle_lab.capture.recorder.thread_state import FORWARD, OPTIMIZER
from paddle_lab.capture.tables.optimizer_ops import optimizer_reads
from paddle_lab.trace.grad_node_order import LEAF_NAME, GradNodeOrder
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import RECORD_TABLES
from paddle_lab.trace.table import Table


def events_of(*rows, allocated=0):
    """Make events of ``(time, kind, address, bytes, segment)``; the counter is kept."""
    table = np.array(rows, dtype=np.int64).reshape(-1, 5)
    change = np.where(table[:, 1] == ALLOCATE, table[:, 3], -table[:, 3])
    nothing = np.zeros(len(table), dtype=np.int64)
    return AllocatorEvents(
        time_ns=table[:, 0],
        kind=table[:, 1],
        address=table[:, 2],
        bytes=table[:, 3],
        allocated_bytes=allocated + np.cumsum(change),
        reserved_bytes=nothing,
        place=nothing + HOST,
        thread=nothing,
        segment=table[:, 4],
        late_ns=nothing,
    )


def lives(blocks):
    return list(
        zip(
            blocks.address.tolist(), blocks.bytes.tolist(), blocks.start_ns.tolist(),
            blocks.end_ns.tolist(), strict=True,
        )
    )  # fmt: skip


def test_an_address_that_is_used_again_is_another_block():
    events = events_of(
        (10, ALLOCATE, 7, 4, 0), (20, FREE, 7, 4, 0), (30, ALLOCATE, 7, 8, 0), (40, FREE, 5, 2, 0)
    )
    assert lives(pair_events(events)) == [
        (5, 2, BEFORE, 40),
        (7, 4, 10, 20),
        (7, 8, 30, ALIVE),
    ]


def test_blocks_from_before_come_in_the_order_they_were_freed_in():
    # Addresses differ between processes.
    events = events_of((10, FREE, 9, 4, 0), (20, FREE, 2, 4, 0), (30, FREE, 5, 4, 0), allocated=12)
    assert pair_events(events).address.tolist() == [9, 2, 5]


def test_a_block_whose_free_is_missing_ends_where_its_address_is_used_again():
    events = events_of((10, ALLOCATE, 7, 4, 0), (30, ALLOCATE, 7, 8, 0), (50, FREE, 7, 8, 0))
    assert lives(pair_events(events)) == [(7, 4, 10, 30), (7, 8, 30, 50)]


def test_what_was_freed_while_the_log_was_cut_is_counted():
    events = events_of((10, ALLOCATE, 1, 100, 0), (50, ALLOCATE, 5, 1, 1))
    events.allocated_bytes[1] -= 70
    counted = CountedTotals()
    assert counted.count(events).tolist() == [100, 31]
    assert counted.missed_bytes == 70


def test_the_wall_clock_may_be_corrected_meanwhile():
    begin, end = ClockReading(1_000_000, 500), ClockReading(1_001_000, 1_400)
    wall_ns = np.array([1_000_000, 1_000_500, 1_001_000])
    assert to_perf_ns(wall_ns, begin, end).tolist() == [500, 950, 1_400]


@st.composite
def nested_ops(draw):
    """Nested intervals of one thread, and moments."""
    ops, time = [], 0
    open_ops = []
    for opens in draw(st.lists(st.booleans(), max_size=30)):
        time += draw(st.integers(1, 3))
        if opens:
            open_ops.append(len(ops))
            ops.append([time, None])
        elif open_ops:
            ops[open_ops.pop()][1] = time
    while open_ops:
        time += 1
        ops[open_ops.pop()][1] = time
    return ops, draw(st.lists(st.integers(0, time + 2), max_size=20))


@given(nested_ops())
def test_the_innermost_op_is_found(drawn):
    ops, moments = drawn
    starts = np.array([start for start, _ in ops], dtype=np.int64)
    ends = np.array([end for _, end in ops], dtype=np.int64)
    times = np.array(moments, dtype=np.int64)
    same = np.zeros(len(times), dtype=np.int64)
    found = innermost(times, same, starts, ends, np.zeros(len(ops), dtype=np.int64))
    slowly = [
        max((key for key, (start, end) in enumerate(ops) if start <= time <= end), default=-1)
        for time in moments
    ]
    assert found.tolist() == slowly


def test_threads_have_their_own_ops():
    starts, ends, thread = np.array([0, 0]), np.array([10, 10]), np.array([0, 1])
    found = innermost(np.array([5, 5, 5]), np.array([1, 0, 2]), starts, ends, thread)
    assert found.tolist() == [1, 0, -1]


def record_of(uses, *, phases=(), names=(), sizes=()):
    """Make a record of five ops and of uses ``(op, tensor, role, slot)``."""
    record = Record.empty()
    cells = np.array(uses, np.int64).reshape(-1, 4).T
    columns = dict(zip(RECORD_TABLES["uses"], cells, strict=True))
    ops = {"phase": phases, "name": names}
    for table, told, count in (
        ("uses", columns, len(uses)),
        ("ops", ops, 5),
        ("tensors", {"bytes": sizes}, len(sizes)),
    ):
        nothing = dict.fromkeys(RECORD_TABLES[table], np.zeros(count, np.int64))
        sequences = {**nothing, **{name: column for name, column in told.items() if len(column)}}
        record.tables[table] = Table.from_sequences(RECORD_TABLES[table], sequences)
    return record


def blocks_of_sizes(sizes):
    columns = np.zeros((9, len(sizes)), np.int64)
    columns[1] = sizes
    return Blocks(*columns)


@given(
    outputs=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), unique=True, max_size=12),
    made=st.lists(st.tuples(st.integers(-1, 4), st.integers(0, 1300), st.booleans()), max_size=12),
    sizes=st.lists(st.integers(0, 800), min_size=6, max_size=6),
)
def test_outputs_take_the_blocks_of_their_op_in_order_by_size(outputs, made, sizes):
    outputs = sorted(outputs)
    record = record_of([(op, tensor, OUTPUT, 0) for op, tensor in outputs], sizes=sizes)
    op, size, outlives = (np.array([row[at] for row in made], np.int64) for at in range(3))
    waiting = list(outputs)
    slowly = []
    for its_op, its_size, lives in made:
        fitting = [
            (maker, tensor)
            for maker, tensor in waiting
            if lives and maker == its_op and 0 < sizes[tensor] <= its_size < sizes[tensor] + 512
        ]
        slowly.append(fitting[0][1] if fitting else -1)
        if fitting:
            waiting.remove(fitting[0])
    assert outputs_of_ops(record, blocks_of_sizes(size), op, outlives > 0).tolist() == slowly


@given(
    reads=st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 9), st.just(INPUT), st.integers(0, 3)),
        max_size=20,
    ),
    sgd=st.lists(st.booleans(), min_size=5, max_size=5),
    steps=st.lists(st.booleans(), min_size=5, max_size=5),
)
def test_what_an_update_reads_is_paired_in_order(reads, sgd, steps):
    phases = [OPTIMIZER if is_step else FORWARD for is_step in steps]
    record = record_of(sorted(reads, key=lambda read: read[0]), phases=phases, names=sgd)
    found = optimizer_reads(record.tables, ["adam_", "sgd_"])
    slowly = []
    for op in range(5):
        parameters, gradients = (
            [tensor for maker, tensor, _, at in reads if (maker, at) == (op, slot) and steps[op]]
            for slot in (0, 2 if sgd[op] else 1)
        )
        slowly += zip(parameters, gradients, strict=False)
    parameter, gradient = (column.tolist() for column in found.pairs())
    assert sorted(zip(parameter, gradient, strict=True)) == sorted(slowly)


NAMES = ["Mean", "Add", "Matmul", "Relu", "Matmul", LEAF_NAME, LEAF_NAME, LEAF_NAME]
# Mean -> Add -> (Matmul 2 -> leaves 5, 6), (Relu -> Matmul 4 -> leaf 7)
EDGES = np.array([(0, 1), (1, 2), (1, 3), (2, 5), (2, 6), (3, 4), (4, 7)]).T


def test_equal_names_are_told_apart_by_what_they_wait_for():
    order = GradNodeOrder(NAMES, *EDGES)
    runs = ["Mean", "Add", "Matmul", LEAF_NAME, LEAF_NAME, "Relu", "Matmul", LEAF_NAME]
    # Accumulation nodes go first, the last one ready before the others.
    assert order.match([0], runs) == [0, 1, 2, 6, 5, 3, 4, 7]


def test_of_equal_nodes_that_may_run_the_first_goes_first():
    names = ["Add", "Matmul", "Matmul", "Tanh", "Tanh"]
    order = GradNodeOrder(names, np.array([0, 0, 1, 2]), np.array([1, 2, 3, 4]))
    assert order.match([0], ["Add", "Matmul", "Matmul", "Tanh", "Tanh"]) == [0, 1, 2, 3, 4]
    assert order.match([0], ["Add", "Matmul", "Tanh", "Matmul", "Tanh"]) == [0, 1, 3, 2, 4]


def test_a_node_that_paddle_grad_leaves_out_takes_no_name():
    order = GradNodeOrder(NAMES, *EDGES)
    assert order.match([0], ["Mean", "Add", "Relu", "Matmul"], wanted=[7])[:4] == [0, 1, 3, 4]


def test_a_name_that_is_nowhere_has_no_node():
    order = GradNodeOrder(NAMES, *EDGES)
    assert order.match([0], ["Mean", "Softmax", "Add"]) == [0, -1, 1]


def test_a_graph_ten_thousand_nodes_deep_is_matched():
    depth = 10_000
    order = GradNodeOrder(["Tanh"] * depth, np.arange(depth - 1), np.arange(1, depth))
    assert order.match([0], ["Tanh"] * depth) == list(range(depth))


def walks(random):
    """Return a record of many backward calls with small graphs: names, edges and roots."""
    names, edges, calls = [], [], []
    size, kinds = random.randint(2, 4), random.sample(["Add", "Relu", LEAF_NAME], 2)
    for _ in range(30):
        begin = len(names)
        names += random.choices(kinds, [3, 1], k=size)
        for _ in range(size - 1):
            source, target = sorted(random.choices(range(size), k=2))
            if source < target:
                edges.append((begin + source, begin + target))
            elif begin and random.random() < 0.1:  # a node of an earlier call
                edges.append((begin + source, random.randrange(begin)))
        calls.append([begin + random.choice([0, 0, 1]), begin + random.choice([0, 0, 1])])
    return names, np.array(edges, np.int32).reshape(-1, 2).T, calls


def test_calls_with_equal_graphs_are_matched_as_if_each_were_the_first():
    random, calls, kinds = Random(3), 0, 0
    for _ in range(400):
        names, edges, roots_of_calls = walks(random)
        order = GradNodeOrder(names, *edges)
        for roots in roots_of_calls:
            wanted = random.choice([None, [min(roots)], [roots[0]]])
            ran = random.choice([None, wanted])
            runs = [names[node] for node in order.replay(roots, wanted=ran)]
            if random.random() < 0.3:
                random.shuffle(runs)
            alone = GradNodeOrder(names, *edges).match(roots, runs, wanted=wanted)
            assert order.match(roots, runs, wanted=wanted) == alone
        calls, kinds = calls + len(roots_of_calls), kinds + len(order._matched)
    assert kinds < 0.95 * calls
