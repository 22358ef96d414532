"""Gradient statistics say what numpy finds in the gradients, of every edge, and change nothing."""

from __future__ import annotations

import gc
import re
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import paddle
import pytest
from paddle import nn
from paddle.nn import functional as F

import paddle_lab
from paddle_lab.analysis.findings.checks.gradient_scale import CHECK
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.capture.evidence.gradient_hooks import PostHook
from paddle_lab.capture.evidence.list_slots import takes_post_hook
from paddle_lab.trace.floats import from_bits
from paddle_lab.trace.record import Record
from tests.capture.observation import digest
from tests.models import MODELS, STATIC_MODELS, Build

ROOT = Path(__file__).parents[2]
WRITE_OVER = {
    f"{op}GradNode"
    for op in ("Clip", "Exp", "LeakyRelu", "Log", "Pow", "Relu", "Sigmoid", "Silu", "Sin",
               "Softplus", "Sqrt", "Square", "Tanh")
}  # fmt: skip


def node_names(record: Record) -> list[str]:
    return [record.text(int(name)) for name in record.tables["grad_nodes"]["name"]]


def row_numbers(record: Record) -> list[dict[str, float]]:
    """Return what ``grad_stats`` says, one row a gradient."""
    table = record.tables["grad_stats"]
    whole = {name: table[name].tolist() for name in ("elements", "zeros", "nans", "infs")}
    parts = {
        name: from_bits(table[name]).tolist() for name in ("smallest", "largest", "mean", "norm")
    }
    columns = {**whole, **parts}
    return [{name: column[row] for name, column in columns.items()} for row in range(len(table))]


def rows_by_edge(record: Record) -> dict[int, int]:
    return {edge: row for row, edge in enumerate(record.tables["grad_stats"]["grad_edge"].tolist())}


def check_numbers(found: dict[str, float], gradient: np.ndarray) -> None:
    assert found["elements"] == gradient.size
    assert found["zeros"] == (gradient == 0).sum()
    assert found["nans"] == np.isnan(gradient).sum()
    assert found["infs"] == np.isinf(gradient).sum()
    finite = gradient[np.isfinite(gradient)].astype(np.float64)
    assert found["smallest"] == finite.min()
    assert found["largest"] == finite.max()
    assert found["mean"] == pytest.approx(finite.mean(), rel=1e-5, abs=1e-9)
    assert found["norm"] == pytest.approx(np.sqrt(np.square(finite).sum()), rel=1e-6)


def test_every_edge_says_what_paddle_grad_returns():
    paddle.seed(7)
    weights = [paddle.create_parameter([5, 5], "float32") for _ in range(3)]
    data = paddle.randn([4, 5])

    def forward() -> list[paddle.Tensor]:
        made = [data]
        for weight in weights:
            made.append(paddle.matmul(made[-1], weight))
            made.append(F.relu(made[-1]))
        return [*made[1:], made[-1].sum()]

    *wanted, loss = forward()
    gradients = paddle.grad(loss, [*wanted, *weights])
    with paddle_lab.trace(grads=True) as trace:
        made = forward()
        made[-1].backward()

    record = trace.record
    edges = record.tables["grad_edges"]
    row_of, numbers, names = rows_by_edge(record), row_numbers(record), node_names(record)
    assert sorted(row_of) == [-1, *range(len(edges))]
    check_numbers(numbers[row_of[-1]], np.ones([]))
    # Edges into ops, last op first: each makes one of ``wanted``; then those into the weights.
    inner = [edge for edge in row_of if edge >= 0 and names[edges["target"][edge]][0] in "MR"]
    for edge, gradient in zip(inner, reversed(gradients[:6]), strict=True):
        check_numbers(numbers[row_of[edge]], gradient.numpy())
    outer = [edge for edge in row_of if edge >= 0 and edge not in inner]
    for edge, gradient in zip(outer, reversed(gradients[6:]), strict=True):
        check_numbers(numbers[row_of[edge]], gradient.numpy())


def test_what_a_node_wrote_over_is_not_taken_for_what_it_was_given():
    data = paddle.to_tensor([4.0, 9.0])
    data.stop_gradient = False
    with paddle_lab.trace(grads=True) as trace:
        both = paddle.concat([paddle.sqrt(data * 1.0), (data * 1.0).reshape([1, 2])[0]])
        paddle.sqrt((both * both).sum() * 0.0).backward()

    record = trace.record
    names, edges, row_of = node_names(record), record.tables["grad_edges"], rows_by_edge(record)
    numbers = row_numbers(record)
    # The derivative of a square root at 0 is infinite; nobody handed it to its own grad node.
    assert all(names[edges["source"][edge]] == "SqrtGradNode" for edge in row_of if edge == 0)
    assert -1 not in row_of
    assert numbers[row_of[0]]["infs"] == 1
    joined = [
        edge
        for edge in range(len(edges))
        if names[edges["source"][edge]] == "ConcatGradNode"
        and names[edges["target"][edge]] == "SqrtGradNode"
    ]
    assert len(joined) == 1
    assert joined[0] not in row_of


def test_a_histogram_counts_the_values_of_each_exponent():
    data = paddle.to_tensor([0.0, 0.75, -1.5, 3.0, 3.5, float("inf"), float("nan")])
    factor = paddle.ones([7])
    factor.stop_gradient = False
    with paddle_lab.trace(grads=True) as trace:
        (factor * data).sum().backward()

    record = trace.record
    (row,) = (row for edge, row in rows_by_edge(record).items() if edge == 1)
    check_numbers(row_numbers(record)[row], data.numpy())
    table = record.tables["grad_histograms"]
    rows = zip(*(table[name].tolist() for name in table.columns), strict=True)
    assert [cells[1:] for cells in rows if cells[0] == row] == [(0, 1, 1), (-1, 0, 1), (1, 0, 2)]


def unexplained(record: Record) -> list[str]:
    """Return the edges without a row that nothing excuses.

    A node that takes no post hook (a list of tensors, a PyLayer, a program) is excused where its
    gradient meets others, or arrives at a tensor that is dead or at a node that writes over it; and
    so is an empty gradient.
    """
    names, edges = node_names(record), record.tables["grad_edges"]
    arrivals = np.bincount(edges["target"], minlength=len(names))
    known = rows_by_edge(record)
    found = []
    for edge in range(len(edges)):
        source, target = int(edges["source"][edge]), int(edges["target"][edge])
        is_left_alone = not takes_post_hook(names[source], [])
        hides = (
            arrivals[target] > 1
            or not takes_post_hook(names[target], [])
            or names[target] in WRITE_OVER
        )
        is_empty = re.search(r"\b0\b", record.text(int(edges["shape"][edge]))) is not None
        if edge not in known and not is_empty and not (is_left_alone and hides):
            found.append(f"{names[source]} → {names[target]}")
    return found


def two_steps(build: Build) -> list[dict[str, str]]:
    step = build()
    return [digest(step()) for _ in range(2)]


@pytest.mark.parametrize("name", [*MODELS, *STATIC_MODELS])
def test_models_compute_the_same_and_every_edge_is_told(name):
    build = {**MODELS, **STATIC_MODELS}[name]
    plain = two_steps(build)

    with paddle_lab.trace(grads=True) as trace:
        traced = two_steps(build)

    assert traced == plain
    assert trace.record.origin.notices == []
    assert [one for one in CHECK.find(Facts(trace.view_record)) if one.severity != "info"] == []
    # Gradients in sparse coordinates are passed over.
    assert unexplained(trace.record) == [] or name == "sparse_values"


def test_undefined_gradients_and_slots_of_several_kill_nothing():
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.capture.undefined_gradients"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.strip().endswith("all alive")


def test_paddle_has_no_more_ops_that_differentiate_lists():
    header = Path(paddle.__file__).parent / "include/paddle/phi/api/include/api.h"
    if not header.exists():
        pytest.skip("this Paddle comes without headers")
    take_lists = set(
        re.findall(r"\b(\w+)\(const (?:paddle::optional<)?std::vector<Tensor>", header.read_text())
    ) | set(re.findall(r"\b(\w+)\([^()]*std::vector<Tensor>>?& \w+", header.read_text()))
    library = (Path(paddle.__file__).parent / "base/libpaddle.so").read_bytes()
    classes = {
        name.decode() for name in re.findall(rb"\d([A-Z][A-Za-z0-9]*GradNode(?:Final)?)\0", library)
    }
    assert {"ConcatGradNode", "AddNGradNodeFinal", "TanhGradNode"} <= classes
    for op in take_lists:
        stem = "".join(part.capitalize() for part in op.strip("_").split("_"))
        for name in (f"{stem}GradNode", f"{stem}GradNodeFinal"):
            if name in classes and not re.match(r"Index|.*Interp", name):
                assert not takes_post_hook(name, []), name


def living_hooks() -> int:
    """Return how many hooks of a watch something still holds: a grad node, for one."""
    gc.collect()
    return sum(isinstance(thing, PostHook) for thing in gc.get_objects())


def test_hooks_are_gone_when_the_backward_pass_is_over():
    data = paddle.randn([3, 3])
    data.stop_gradient = False
    with paddle_lab.trace(grads=True) as trace:
        loss = (paddle.concat([data, data.tanh()]) * 2).sum()
        loss.backward(retain_graph=True)
        assert living_hooks() == 0
        paddle.grad(loss, data, retain_graph=True, create_graph=True)
        assert living_hooks() == 0
    assert len(trace.record.tables["grad_stats"]) > 0
    first = data.grad.numpy()

    loss.backward()

    assert np.array_equal(data.grad.numpy(), first * 2)


def test_hooks_are_gone_when_the_backward_pass_has_failed():
    data = paddle.randn([3])
    data.stop_gradient = False
    with paddle_lab.trace(grads=True):
        hidden = data.exp()
        loss = (hidden * hidden).sum()
        hidden[0] = 1.0
        with pytest.raises(RuntimeError):
            loss.backward()
        assert living_hooks() == 0
    assert loss.grad_fn is not None


def test_a_graph_that_is_run_twice_has_rows_for_both():
    data = paddle.randn([3])
    data.stop_gradient = False
    with paddle_lab.trace(grads=True) as trace:
        loss = data.tanh().sum()
        loss.backward(retain_graph=True)
        loss.backward()
    table = trace.record.tables["grad_stats"]
    assert table["backward_call"].tolist() == [0, 0, 0, 1, 1, 1]
    assert table["grad_edge"].tolist() == [-1, 0, 1, -1, 0, 1]


def test_a_graph_from_before_the_trace_is_told():
    one, other = paddle.randn([3]), paddle.randn([3])
    one.stop_gradient = other.stop_gradient = False
    loss = paddle.concat([one.cumsum(), other]).sum()
    with paddle_lab.trace(grads=True) as trace:
        loss.backward()
    record = trace.record
    names, edges = node_names(record), record.tables["grad_edges"]
    told = {
        (names[edges["source"][edge]], names[edges["target"][edge]])
        for edge in rows_by_edge(record)
        if edge >= 0
    }
    # ``other`` is a leaf that the trace has never met.
    assert told == {
        ("SumGradNode", "ConcatGradNode"),
        ("ConcatGradNode", "CumsumGradNode"),
        ("CumsumGradNode", "GradNodeAccumulation"),
    }


def test_nothing_is_kept_alive():
    stat = paddle.base.core.host_memory_stat_current_value
    layer = nn.Linear(256, 256)
    data = paddle.randn([512, 256])

    def step() -> None:
        layer(data).tanh().exp().sum().backward()
        layer.clear_gradients()

    step()
    with paddle_lab.trace(grads=True):
        step()
        gc.collect()
        before = stat("Allocated", 0)
        for _ in range(4):
            step()
        gc.collect()
        assert stat("Allocated", 0) == before


def test_tensors_die_with_the_traced_code():
    with paddle_lab.trace(grads=True):
        layer = nn.Linear(4, 4)
        output = paddle.concat([layer(paddle.randn([2, 4])), paddle.randn([2, 4])])
        output.sum().backward()
        references = [weakref.ref(thing) for thing in (layer, layer.weight, output)]
        del layer, output
        gc.collect()
        assert [reference() for reference in references] == [None] * 3


def test_two_open_traces_both_tell():
    data = paddle.randn([3])
    data.stop_gradient = False
    with paddle_lab.trace(grads=True) as outer, paddle_lab.trace(grads=True) as inner:
        data.tanh().sum().backward()
    for trace in (outer, inner):
        assert len(trace.record.tables["grad_stats"]) == 3


def test_without_grads_nothing_is_recorded():
    data = paddle.randn([3])
    data.stop_gradient = False
    with paddle_lab.trace() as trace:
        data.tanh().sum().backward()
    assert len(trace.record.tables["grad_stats"]) == 0
