"""A saved model, compared with the program that Paddle reads from the same file."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter

import paddle
import pytest

import paddle_lab
from tests.programs.models import saved

_NO_COMPUTATION = {"pd_op.data", "pd_op.full", "pd_op.full_int_array", "pd_op.fetch"}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return saved(tmp_path_factory.mktemp("model")).with_suffix(".json")


def blocks_of(block):
    yield block
    for op in block.ops:
        for inner in op.blocks():
            yield from blocks_of(inner)


def names_in(block) -> Counter[str]:
    names = [op.name() for op in block.ops]
    return Counter(
        name.removeprefix("pd_op.")
        for name in names
        if name not in _NO_COMPUTATION and not name.startswith(("builtin.", "cf."))
    )


def test_it_has_the_ops_that_paddle_has_in_every_block(model):
    program = paddle.static.Program()
    paddle.base.core.deserialize_pir_program(str(model), program)
    trace = paddle_lab.program(model)
    graph = trace.graph()
    told = Counter(name for _, name in graph.nodes(data="name"))
    assert told == sum(map(names_in, blocks_of(program.global_block())), Counter())
    groups = [group for group in trace.view_record.groups["kind"] if group == 8]
    assert len(groups) == 2 * 3 + 1  # two ``if`` with ``then`` and ``else``, one ``while``


def test_edges_are_the_operands_of_paddles_program(model):
    program = paddle.static.Program()
    paddle.base.core.deserialize_pir_program(str(model), program)
    graph = paddle_lab.program(model).graph()
    # In the outermost block, from op to op by name. Lists are followed to what is in them.
    expected: Counter[tuple[str, str]] = Counter()
    for op in program.global_block().ops:
        if op.name() in _NO_COMPUTATION or op.name().startswith("builtin."):
            continue
        for value in op.operands_source():
            maker = value.get_defining_op()
            made = [maker] if maker else []
            if maker and maker.name() == "builtin.combine":
                made = [item.get_defining_op() for item in maker.operands_source()]
            made = [
                each.operands_source()[0].get_defining_op()
                if each.name() == "builtin.split"
                else each
                for each in made
            ]
            for each in made:
                if each.name() not in _NO_COMPUTATION and not each.name().startswith("builtin."):
                    expected[each.name()[6:], op.name()[6:]] += 1
    name = dict(graph.nodes(data="name"))
    told = Counter((name[source], name[target]) for source, target in graph.edges())
    assert not expected - told


def test_layers_are_groups_and_parameters_are_tensors(model):
    trace = paddle_lab.program(model)
    # Paddle numbers them over the whole process.
    layers = {re.sub(r"_\d+", "", op.layer) for op in trace.ops}
    assert layers == {
        "",
        "Block",
        "Block.LayerNorm",
        "Block.Linear",
        "Sequential.Linear",
        "Sequential.ReLU",
    }
    parameters = {tensor.name for tensor in trace.tensors if tensor.kind == "parameter"}
    document = json.loads(model.read_text())
    ops = document["program"]["regions"][0]["blocks"][0]["ops"]
    assert parameters == {op["A"][3] for op in ops if op["#"] == "p"}
    assert all(op.file and op.line for op in trace.ops)


def test_it_says_no_time_because_nothing_ran(model):
    trace = paddle_lab.program(model)
    assert "µs" not in repr(trace)


def test_without_paddle_it_gives_the_same_graph(model, tmp_path):
    page = tmp_path / "model.html"
    code = (
        "import sys; sys.modules['paddle'] = None\n"
        f"import paddle_lab\ntrace = paddle_lab.program({str(model)!r})\n"
        f"trace.to_html({str(page)!r}); trace.to_svg({str(tmp_path / 'model.svg')!r})\n"
        "print(sorted(trace.graph().edges()), [op.name for op in trace.ops])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    trace = paddle_lab.program(model)
    expected = f"{sorted(trace.graph().edges())} {[op.name for op in trace.ops]}"
    assert done.stdout.strip() == expected, done.stderr
    assert page.stat().st_size > 10_000


def test_it_saves_and_loads(model, tmp_path):
    trace = paddle_lab.program(model)
    again = paddle_lab.load(trace.save(tmp_path / "model.pltrace"))
    assert [(op.name, op.layer, op.line) for op in again.ops] == [
        (op.name, op.layer, op.line) for op in trace.ops
    ]
    assert "if" in trace.summary()


def test_a_table_gives_no_time_and_no_size_that_a_program_does_not_have(model):
    table = paddle_lab.program(model).table()
    relu = next(row for row in table if row["op"] == "relu")
    unknown = ("self_ns", "total_ns", "flops", "output_bytes", "saved_bytes")
    assert [relu[name] for name in unknown] == [None] * len(unknown)
    assert " ms" not in repr(table)
    assert table.unknown["relu"] == relu["calls"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "cut short"),
        ("[1, 2]", "no program of Paddle's"),
        ('{"nodes": []}', "no program of Paddle's"),
        ('{"base_code": {"magic": "pir", "version": 4}, "program": {}}', "cut short"),
        ('{"base_code": {"magic": "pir", "version": 99}, "program": {}}', "newer version"),
        ("[" * 100_000, "cut short"),
    ],
)
def test_what_is_no_program_is_told_in_one_sentence(text, says, tmp_path):
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(paddle_lab.TraceFileError, match=says) as raised:
        paddle_lab.program(path)
    assert "\n" not in str(raised.value)


def test_a_cut_file_is_told(model, tmp_path):
    path = tmp_path / "model.json"
    path.write_bytes(model.read_bytes()[:-100])
    with pytest.raises(paddle_lab.TraceFileError, match="cut short"):
        paddle_lab.program(path)
