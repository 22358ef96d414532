"""Programs that a traced cell ran: their ops are shown, but counted separately from eager ops."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import paddle
import pytest
from paddle.jit.dy2static.pir_partial_program import PartialProgramLayer

import paddle_lab
from paddle_lab.api import page_of
from paddle_lab.trace.unpack import unpack
from tests.breaks import planted
from tests.programs import models
from tests.programs.models import Block
from tests.programs.test_saved_model import blocks_of, names_in
from tests.programs.without_paddle import told_by, told_elsewhere

_MODES = pytest.mark.parametrize("full_graph", [True, False], ids=["full graph", "sot"])


class Saved(dict[Path, paddle_lab.Trace]):
    """The traces of this file's tests, by the files to which they were saved."""

    folder: Path


@pytest.fixture(scope="module")
def saved_traces(tmp_path_factory) -> Saved:
    saved = Saved()
    saved.folder = tmp_path_factory.mktemp("traces")
    return saved


def names_of(program) -> Counter[str]:
    return sum(map(names_in, blocks_of(program.global_block())), Counter())


@_MODES
def test_a_program_is_one_op_that_opens(full_graph):
    paddle.seed(1)
    net = paddle.jit.to_static(Block(), full_graph=full_graph)
    x = paddle.randn([4, 8])
    with paddle_lab.trace() as trace:
        for _ in range(2):
            net(x).mean().backward()
    assert [op.name for op in trace.ops] == ["run_program", "mean"] * 2
    (program,) = trace.programs
    assert [op.key for op in program.ran_in] == [0, 2]
    assert program.duration_ns == trace.ops[0].duration_ns + trace.ops[2].duration_ns
    assert {op.file for op in program.ops} == {models.__file__}
    drawn = trace._drawn_record
    own, added = len(trace.record.ops), drawn.program_ops["op"].tolist()
    assert len(added) == len(program.ops)
    assert added == list(range(own, own + len(added)))
    # The drawn graph is connected: from the op before the program into it, and out of it again.
    edges = {
        *zip(drawn.op_edges["source"].tolist(), drawn.op_edges["target"].tolist(), strict=True)
    }
    assert any(source in added and target == 0 for source, target in edges)
    groups = [drawn.text(code) for code in drawn.groups["path"].tolist()]
    assert any("program 1 ×2" in path for path in groups)
    assert "net.up" in groups
    members = drawn.backward_members
    of_first = members["grad_node"][members["backward_call"] == 0].tolist()
    assert {*drawn.program_grad_nodes["grad_node"].tolist()} <= {*of_first}
    assert f"{own} ops" in repr(trace)


@_MODES
@pytest.mark.parametrize("model", models.MODELS)
def test_the_ops_are_those_of_the_programs_that_ran(model, full_graph, monkeypatch, saved_traces):
    ran: list[PartialProgramLayer] = []
    call = PartialProgramLayer.call_run_impl_with_hook

    def noting(self, *args, **kwargs):
        ran.append(self)
        return call(self, *args, **kwargs)

    noting.__code__ = noting.__code__.replace(co_filename=call.__code__.co_filename)
    monkeypatch.setattr(PartialProgramLayer, "call_run_impl_with_hook", noting)
    make, inputs = models.MODELS[model]
    net, x = paddle.jit.to_static(make(), full_graph=full_graph), inputs()
    with paddle_lab.trace(check="none") as trace:
        net(x).mean().backward()
    assert len(trace.programs) == len(ran)
    assert ran or not full_graph  # SOT compiles nothing of some models
    for program, layer in zip(trace.programs, ran, strict=True):
        assert Counter(op.name for op in program.ops) == names_of(layer.program.forward_program)
        assert all(op.file and op.line > 0 for op in program.ops)
        nodes = [node for _, node in program.graph("backward").nodes(data=True)]
        computing = [node for node in nodes if not node["parameter"]]
        told = Counter(node["name"] for node in computing)
        assert told == names_of(layer.program.backward_program)
        assert all(node["file"] and node["line"] for node in computing)
    if ran:
        assert trace.record.programs["ops"][0] == len(trace.programs[0].ops)
        saved_traces[trace.save(saved_traces.folder / f"{model}{full_graph}.pltrace")] = trace


def test_the_saved_traces_tell_the_same_in_another_process(saved_traces):
    elsewhere = told_elsewhere([*saved_traces])
    assert elsewhere == [told_by(trace) for trace in saved_traces.values()]


def test_what_sot_compiles_in_a_trace_has_the_lines_of_the_statements():
    net = paddle.jit.to_static(Block(), full_graph=False)
    with paddle_lab.trace() as trace:
        net(paddle.randn([4, 8]))
    (program,) = trace.programs
    texts = {op.name: op.frame.text for op in program.ops}
    assert texts["gelu"].startswith("x = x + self.down(functional.gelu(")
    assert texts["greater_than"] == "if x.sum() > 0:"
    assert {op.layer for op in program.ops if op.name == "gelu"} == {""}


def shrunk(x):
    if x.mean() > 0:
        return x / 2
    x = x - 1
    return x * x


def test_a_condition_that_paddle_computes_again_has_the_line_of_the_if():
    net = paddle.jit.to_static(shrunk, full_graph=True)
    with paddle_lab.trace() as trace:
        net(paddle.ones([2]))
    (program,) = trace.programs
    assert {op.file for op in program.ops} == {__file__}
    texts = [op.frame.text for op in program.ops if op.name in ("mean", "greater_than")]
    assert len(texts) > 2
    assert {*texts} == {"if x.mean() > 0:"}


def test_each_line_says_which_program_runs_it_and_what_python_runs():
    def pieces(function):
        static = paddle.jit.to_static(function, full_graph=False)
        with paddle_lab.trace() as trace:
            static(planted.x)
        record, first = trace._drawn_record, function.__code__.co_firstlineno
        columns = (record.program_lines[name].tolist() for name in ("file", "line", "program"))
        return [
            (line - first, program)
            for file, line, program in zip(*columns, strict=True)
            if record.text(file) == planted.__file__ and line >= first
        ]

    # ``if norm > 1.0:`` compares in the program, and Python jumps.
    found = pieces(planted.clipped_update)
    assert sorted(found) == [(1, 0), (2, 0), (3, -1), (3, 0), (4, 1), (5, 1)]
    assert sorted(pieces(planted.printed)) == [(1, 0), (2, -1), (3, 1)]
    whole = {-1: {1, 2, 3, 4, 5, 6}, 0: {1}, 1: {6}}
    assert set(pieces(planted.forgiving)) == {
        (line, program) for program, lines in whole.items() for line in lines
    }
    # A piece with fewer ops than Paddle compiles.
    with paddle_lab.trace() as trace:
        paddle.jit.to_static(small, full_graph=False)(planted.x)
    (line,) = trace._drawn_record.program_lines["line"].tolist()
    assert line == small.__code__.co_firstlineno + 1
    assert not trace.programs


def test_a_whole_program_has_the_operations_of_its_ops_in_the_table():
    net = paddle.nn.Sequential(paddle.nn.Linear(8, 16), paddle.nn.GELU(), paddle.nn.Linear(16, 4))
    x = paddle.randn([4, 8])
    with paddle_lab.trace() as eager:
        net(x)
    with paddle_lab.trace() as trace:
        paddle.jit.to_static(net, full_graph=True)(x)
    for column in ("flops", "macs"):
        (compiled,) = trace.table()[column]
        assert compiled == sum(eager.table()[column])
    with paddle_lab.trace() as branching:
        paddle.jit.to_static(Block(), full_graph=True)(x)
    assert branching.table()["flops"][0] is None


def small(x):
    return x * 2


def test_a_traced_run_of_sot_leaves_its_pieces_and_results_as_they_are():
    def run(traced):
        paddle.seed(7)
        net = paddle.jit.to_static(Block(), full_graph=False)
        x = paddle.randn([4, 8])
        with paddle_lab.trace() if traced else paddle.no_grad():
            outputs = [net(x).numpy() for _ in range(2)]
        return outputs, net(x).numpy()

    for told, expected in zip(run(True), run(False), strict=True):
        assert np.array_equal(told, expected)


def test_a_program_of_an_executor_shows_its_three_phases():
    paddle.enable_static()
    try:
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            x = paddle.static.data("x", [None, 8])
            loss = paddle.static.nn.fc(x, 4).mean()
            paddle.optimizer.SGD(0.1).minimize(loss)
        executor = paddle.static.Executor()
        with paddle_lab.trace() as trace:
            executor.run(startup)
            executor.run(main, feed={"x": np.ones((2, 8), "float32")}, fetch_list=[loss])
    finally:
        paddle.disable_static()
    assert [op.name for op in trace.ops] == ["run_program"] * 2
    _, program = trace.programs
    assert program.kind == "executor"
    assert {op.phase for op in program.ops} == {"forward", "optimizer"}
    assert "matmul_grad" in [name for _, name in program.graph("backward").nodes(data="name")]
    assert {op.file for op in program.ops} == {__file__}
    drawn = trace._drawn_record
    assert len({*drawn.ops["phase"][drawn.program_ops["op"]].tolist()}) == 3


def test_it_is_kept_in_a_saved_trace(tmp_path):
    net = paddle.jit.to_static(Block(), full_graph=True)
    with paddle_lab.trace() as trace:
        net(paddle.randn([4, 8])).mean().backward()
    again = paddle_lab.load(trace.save(tmp_path / "cell.pltrace"))
    (program,) = again.programs
    assert [op.where for op in program.ops] == [op.where for op in trace.programs[0].ops]
    trace.to_svg(tmp_path / "one.svg")
    again.to_svg(tmp_path / "two.svg")
    assert (tmp_path / "one.svg").read_text() == (tmp_path / "two.svg").read_text()
    assert trace.to_html(tmp_path / "cell.html").stat().st_size > 10_000


def test_a_page_made_of_a_page_counts_and_judges_only_eager_ops():
    net = paddle.jit.to_static(Block(), full_graph=True)
    with paddle_lab.trace() as trace:
        net(paddle.randn([4, 8])).mean().backward()
    again = paddle_lab.Trace(unpack(trace.payload()))
    assert repr(again) == repr(trace)
    assert [finding.kind for finding in again.findings] == [
        finding.kind for finding in trace.findings
    ]
    assert len(page_of(trace.payload())) > 10_000
