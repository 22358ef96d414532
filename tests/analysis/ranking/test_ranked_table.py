"""``trace.table(by=…)``, compared with programs that do their own counting."""

from __future__ import annotations

import csv

import numpy as np
import paddle
import pytest
from paddle.distributed.fleet.utils import recompute

import paddle_lab
from paddle_lab.analysis.ranking.ranked_table import cell_text

WIDTH, STEPS = 16, 3


class Block(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.up = paddle.nn.Linear(WIDTH, WIDTH)
        self.down = paddle.nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return self.down(paddle.nn.functional.relu(self.up(x)))


def trained(*, recomputes: bool = False, profile: bool = False):
    block = Block()
    adam = paddle.optimizer.Adam(parameters=block.parameters())
    x = paddle.randn([4, WIDTH])
    x.stop_gradient = False
    with paddle_lab.trace(profile=profile) as trace:
        for _ in range(STEPS):
            y = recompute(block, x) if recomputes else block(x)
            y.mean().backward()
            adam.step()
            adam.clear_grad()
    return trace


@pytest.fixture(scope="module")
def trace():
    return trained()


def rows(table, name):
    return {row[table.columns[0]]: row[name] for row in table}


def test_ops_are_grouped_by_name(trace):
    table = trace.table()
    calls = rows(table, "calls")
    assert (calls["linear"], calls["relu"], calls["adam_"]) == (2 * STEPS, STEPS, 4 * STEPS)
    assert calls["Tensor.backward"] == STEPS
    assert rows(table, "parameters")["linear"] == 2 * (WIDTH * WIDTH + WIDTH)
    assert rows(table, "parameter_bytes")["adam_"] == 4 * 2 * (WIDTH * WIDTH + WIDTH)
    assert rows(table, "macs")["linear"] == 2 * STEPS * 4 * WIDTH * WIDTH
    assert rows(table, "dtype")["linear"] == "float32"
    assert table["self_ns"] == sorted(table["self_ns"], reverse=True)


@pytest.mark.parametrize("by", ["op", "layer", "line", "turn"])
@pytest.mark.parametrize("recomputes", [False, True])
def test_self_times_add_up_to_all_spans(by, recomputes):
    table = trained(recomputes=recomputes).table(by)
    host = table.host
    assert sum(table["self_ns"]) == host.spans.self_ns.sum()
    assert sum(table["self_ns"]) + host.outside_ns + host.own_ns == host.wall_ns
    assert np.all(np.asarray(table["self_ns"]) <= np.asarray(table["total_ns"]))


def test_a_layer_contains_its_sublayers(trace):
    table = trace.table("layer")
    total, own, calls = (rows(table, name) for name in ("total_ns", "self_ns", "calls"))
    parts = ("block", "up", "down")
    assert [calls[part] for part in parts] == [STEPS] * 3
    assert total["block"] == sum(own[part] for part in parts)
    parameters = rows(table, "parameters")
    assert parameters["block"] == 2 * parameters["up"] == 2 * (WIDTH * WIDTH + WIDTH)
    flops = rows(table, "flops")
    assert flops["block"] == flops["up"] + flops["down"] + STEPS * 4 * WIDTH
    assert None in total  # the optimizer, the mean, backward


def test_each_iteration_has_a_row_with_its_backward(trace):
    table = trace.table("turn")
    assert table["number"] == [1, 2, 3]
    assert len(set(table["flops"])) == 1
    by_op = rows(trace.table(), "flops")
    assert sum(table["flops"]) == sum(by_op.values())


def test_a_line_contains_the_lines_that_it_called(trace):
    table = trace.table("line").to_pandas().set_index("source")
    inner = table.loc["return self.down(paddle.nn.functional.relu(self.up(x)))"]
    outer = table.loc["y = recompute(block, x) if recomputes else block(x)"]
    assert (inner.calls, outer.calls) == (3 * STEPS, 0)
    assert inner.total_ns == outer.total_ns == inner.self_ns > 0 == outer.self_ns


def test_recomputed_ops_count_once():
    trace = trained(recomputes=True)
    table = trace.table()
    inner = rows(table, "total_ns")["RecomputeFunction"]
    assert inner > rows(table, "self_ns")["RecomputeFunction"]
    assert rows(table, "calls")["linear"] == 4 * STEPS  # once more in backward
    assert rows(table, "flops")["RecomputeFunction"] == rows(table, "flops")["linear"] / 2 + (
        STEPS * 4 * WIDTH
    )


def test_unknown_values_are_null_and_named():
    with paddle_lab.trace() as trace:
        paddle.linalg.inv(paddle.eye(3) + 1)
    table = trace.table()
    assert rows(table, "flops")["inverse"] is None
    assert rows(table, "unknown_flops")["inverse"] == 1
    assert table.unknown == {"inverse": 1}
    assert "inverse ×1" in repr(table)
    line = trace.table("line")
    assert set(line["flops"]) == {9}  # of the addition
    assert "≥ 9" in repr(line)


def test_flops_have_three_digits():
    texts = [
        cell_text({"flops": count}, "flops")
        for count in (None, 0, 999, 1000, 999_499, 999_600, 4_089_184_256)
    ]
    assert texts == ["–", "0", "999", "1 k", "999 k", "1 M", "4.09 G"]
    assert cell_text({"flops": 5, "unknown_flops": 2}, "flops") == "≥ 5"


def test_grad_nodes_have_no_times(trace):
    table = trace.table("node")
    assert rows(table, "calls")["MatmulGradNode"] == 2 * STEPS
    assert rows(table, "self_ns")["MatmulGradNode"] is None
    parameters = rows(table, "parameters")
    assert parameters["GradNodeAccumulation"] == 2 * (WIDTH * WIDTH + WIDTH)
    assert parameters["ReluGradNode"] is None


def test_the_grad_nodes_of_backward_are_those_of_the_node_table(trace):
    backward = rows(trace.table(), "flops")["Tensor.backward"]
    assert backward == sum(trace.table("node")["flops"])


def test_an_unknown_kind_of_row_is_refused(trace):
    with pytest.raises(
        ValueError, match="by cannot be 'shape'; it is one of op, layer, line, turn, node"
    ):
        trace.table("shape")
    with pytest.raises(ValueError, match="did you mean 'layer'"):
        trace.table("layers")


def test_a_table_has_rows_and_columns(trace):
    table = trace.table("layer")
    assert table[1] == [*table][1] == table[1:][0]
    assert table[1]["layer"] == table["layer"][1] == "up"
    with pytest.raises(KeyError, match="no column 'flop'; did you mean flops"):
        table["flop"]


def test_the_times_of_kernels_are_those_of_the_ops_and_grad_nodes_inside():
    trace = trained(profile=True)
    kernels = trace.kernels.to_pandas()
    ran = kernels[kernels["name"] != ""]
    by_name = ran.groupby("name")["kernel_ns"].sum()
    times = rows(trace.table(), "kernel_ns")
    assert times["linear"] == by_name["linear"] > 0
    # Each of the grad nodes that the three calls ran is rounded down at most once.
    nodes = ran[ran["grad_node"].notna()]["kernel_ns"].sum()
    assert times["Tensor.backward"] == pytest.approx(nodes, abs=len(trace.record.grad_nodes))
    assert rows(trace.table("node"), "kernel_ns")["MatmulGradNode"] == by_name["MatmulGradNode"]
    of_layer = ran[(ran["layer"] == "up") & ran["op_key"].notna()]
    assert rows(trace.table("layer"), "kernel_ns")["up"] == of_layer["kernel_ns"].sum()


def test_without_a_profile_no_kernel_time_is_known(trace):
    assert {*trace.table()["kernel_ns"]} == {None}
    assert "kernel time" not in repr(trace.table())
    assert "profile=True" in repr(trace.kernels)


def test_it_is_shown_with_what_it_adds_up_to(trace):
    text = repr(trace.table("layer"))
    assert "up" in text
    assert "outside Paddle's ops" in text
    assert "<script" not in trace.table("layer")._repr_html_()


def test_csv_has_empty_cells_for_unknown_values(trace, tmp_path):
    path = trace.table("node").to_csv(tmp_path / "nodes.csv")
    with path.open(encoding="utf-8", newline="") as file:
        found = {row["node"]: row for row in csv.DictReader(file)}
    assert found["MatmulGradNode"]["self_ns"] == ""
    assert found["MatmulGradNode"]["calls"] == str(2 * STEPS)


def test_an_empty_trace_has_empty_tables():
    with paddle_lab.trace() as trace:
        pass
    for by in ("op", "layer", "line", "turn", "node"):
        assert len(trace.table(by)) == 0
        assert repr(trace.table(by))
