"""Lines of ops: in a program that was built, and for a model that was saved."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import paddle
import pytest

import paddle_lab
from paddle_lab.words import language
from tests.programs import models
from tests.programs.models import Block, Net, saved
from tests.programs.test_saved_model import blocks_of, names_in

_SOURCE = models.__file__


def places(trace):
    return [(op.name, op.layer, op.file, op.line) for op in trace.ops]


@pytest.fixture(scope="module")
def layer():
    return Net()


@pytest.fixture(scope="module")
def prefix(layer, tmp_path_factory):
    prefix = saved(tmp_path_factory.mktemp("model"), layer)
    paddle_lab.save_lines(layer, prefix)
    return prefix


def lines_with(text):
    lines = Path(_SOURCE).read_text().splitlines()
    return [number for number, line in enumerate(lines, 1) if text in line]


def test_every_op_of_a_saved_model_opens_its_line_in_another_process(prefix):
    model = prefix.with_suffix(".json")
    here = paddle_lab.program(model)
    for text, name in (
        ("if x.sum() > 0", "if"),
        ("while count < 3", "while"),
        ("functional.tanh", "tanh"),
        ("functional.relu(x)", "relu"),
        ("paddle.concat", "concat"),
    ):
        assert {op.line for op in here.ops if op.name == name} - {*lines_with("self.head(x)")} == {
            *lines_with(text)
        }
    assert {op.file for op in here.ops} == {_SOURCE}
    assert {op.layer for op in here.ops} >= {"blocks.0.up", "blocks.1.norm", "head.2"}
    code = (
        "import sys; sys.modules['paddle'] = None\n"
        f"import paddle_lab\ntrace = paddle_lab.program({str(model)!r})\n"
        "print([(op.name, op.layer, op.file, op.line) for op in trace.ops])\n"
        "assert all(op.frame.text for op in trace.ops)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == str(places(here)), done.stderr


def test_saving_in_a_trace_writes_the_lines(prefix, layer, tmp_path):
    with paddle_lab.trace() as trace:
        other = saved(tmp_path, layer)
    assert not trace.record.origin.notices
    told = paddle_lab.program(other.with_suffix(".json"))
    assert places(told) == places(paddle_lab.program(prefix.with_suffix(".json")))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text[:-20], "cut short"),
        (lambda _: "[]", "cut short"),
        (lambda _: '{"format": "other"}', "no lines of a model"),
        (lambda text: text.replace('"version":1', '"version":2'), "newer paddle_lab"),
        (lambda text: text.replace('"digest":"', '"digest":"0'), "another model"),
    ],
)
def test_lines_that_do_not_fit_are_told_in_one_sentence(change, says, prefix, tmp_path):
    model, lines = tmp_path / "model.json", tmp_path / "model.lines"
    model.write_bytes(prefix.with_suffix(".json").read_bytes())
    lines.write_text(change(prefix.with_suffix(".lines").read_text()))
    trace = paddle_lab.program(model)
    (notice,) = trace.record.origin.notices
    assert says in notice
    assert len(trace.ops) == len(paddle_lab.program(prefix.with_suffix(".json")).ops)


def test_a_newer_model_is_told_and_shown(prefix, tmp_path):
    document = json.loads(prefix.with_suffix(".json").read_text())
    document["base_code"]["version"] = 99
    model = tmp_path / "model.json"
    model.write_text(json.dumps(document))
    trace = paddle_lab.program(model)
    assert "newer version" in trace.record.origin.notices[0]
    assert len(trace.ops) > 30


_SPEC = [paddle.static.InputSpec([None, 8], "float32")]


class TwoMethods(Block):
    @paddle.jit.to_static(input_spec=_SPEC, full_graph=True)
    def forward(self, x):
        return super().forward(x)

    @paddle.jit.to_static(input_spec=_SPEC, full_graph=True)
    def encode(self, x):
        return paddle.tanh(self.norm(x))


def test_each_static_method_of_a_layer_has_its_lines(tmp_path):
    layer = TwoMethods()
    layer.eval()
    with paddle_lab.trace():
        paddle.jit.save(layer, str(tmp_path / "模型"))
    for name in ("模型", "模型.encode"):
        model = tmp_path / f"{name}.json"
        expected = places(paddle_lab.program(model))
        (tmp_path / f"{name}.lines").unlink()
        paddle_lab.save_lines(layer, tmp_path / name)
        assert places(paddle_lab.program(model)) == expected
    ops = paddle_lab.program(tmp_path / "模型.encode.json").ops
    assert [(op.name, op.file) for op in ops] == [("layer_norm", __file__), ("tanh", __file__)]


def test_another_layer_is_refused(prefix):
    with pytest.raises(ValueError, match="not what this layer saves"):
        paddle_lab.save_lines(models.Block(), prefix)


def test_a_training_program_has_both_sides_with_lines(layer):
    layer.train()
    x = paddle.randn([4, 8])
    trace = paddle_lab.program(layer, x)
    layer.eval()
    static = paddle.jit.to_static(Net(), full_graph=True)
    static(x)
    program = static.forward.program_cache.last()[1][1].train_program
    expected = sum(map(names_in, blocks_of(program.forward_program.global_block())), Counter())
    assert Counter(op.name for op in trace.ops) == expected
    backward = trace.graph("backward")
    nodes = [node for _, node in backward.nodes(data=True) if node["name"] != _LEAF]
    expected = sum(map(names_in, blocks_of(program.backward_program.global_block())), Counter())
    assert Counter(node["name"] for node in nodes) == expected
    assert {node["file"] for node in nodes} == {_SOURCE}
    for node in nodes:
        if node["name"] == "matmul_grad":
            assert trace.ops[node["op"]].name == "matmul"
    leaves = {node["parameter"] for _, node in backward.nodes(data=True) if node["parameter"]}
    assert leaves >= {parameter.name for parameter in layer.parameters()}


_LEAF = "GradNodeAccumulation"


def test_building_a_program_leaves_the_layer_as_it_was(layer):
    x, names = paddle.randn([2, 8]), [parameter.name for parameter in layer.parameters()]
    expected, name = layer(x).numpy(), paddle.utils.unique_name.generate("name")
    paddle_lab.program(layer, paddle.static.InputSpec([None, 8], "float32"))
    assert (layer(x).numpy() == expected).all()
    assert [parameter.name for parameter in layer.parameters()] == names
    assert int(paddle.utils.unique_name.generate("name")[5:]) == int(name[5:]) + 1


def test_a_static_training_program_has_three_phases():
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            x = paddle.static.data("x", [None, 8])
            hidden = paddle.static.nn.fc(x, 4, activation="relu")
            loss = (hidden * hidden * paddle.ones_like(hidden)).mean()
            paddle.optimizer.Adam(0.1, weight_decay=0.1).minimize(loss)
        trace = paddle_lab.program(main)
    finally:
        paddle.disable_static()
    phases = [(op.name, op.phase) for op in trace.ops]
    assert [name for name, phase in phases if phase == "forward"][:7] == [
        "matmul", "add", "relu", "multiply", "full_like", "multiply", "mean",
    ]  # fmt: skip
    assert {name for name, phase in phases if phase == "optimizer"} >= {"adam_"}
    names = [name for _, name in trace.graph("backward").nodes(data="name")]
    assert {"full_like", "mean_grad", "multiply_grad", "add_n", "matmul_grad"} <= {*names}
    assert all(op.line for op in trace.ops)


def test_notices_are_in_both_languages(prefix, tmp_path):
    model = tmp_path / "model.json"
    model.write_bytes(prefix.with_suffix(".json").read_bytes())
    (tmp_path / "model.lines").write_text("{")
    before = language()
    language("zh")
    try:
        assert "不完整" in paddle_lab.program(model).record.origin.notices[0]
    finally:
        language(before)
