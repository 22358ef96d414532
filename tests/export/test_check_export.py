"""``paddle_lab.check_export``, compared with what ``paddle.jit.save`` refuses and accepts."""

from __future__ import annotations

import inspect
import os
import random
import re
import signal
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import pytest
from paddle.static import InputSpec

import paddle_lab
from paddle_lab.analysis.tables.text_table import sentence_html
from paddle_lab.capture.export.aside import Tell, aside
from paddle_lab.capture.export.isolation import Isolation
from tests.export import blocked, healthy

TRANSLATED = Path("~/.cache/paddle/to_static_tmp").expanduser()
SPECIFICATION = [InputSpec([None, 4], "float32", name="x")]


def layers(module: Any) -> dict[str, type]:
    return {
        name: found
        for name, found in vars(module).items()
        if inspect.isclass(found) and issubclass(found, paddle.nn.Layer)
    }


def marked(*objects: Any) -> set[tuple[int, str]]:
    """The marked lines in the sources of classes and functions."""
    found = set()
    for one in objects:
        lines, first = inspect.getsourcelines(one)
        for number, line in enumerate(lines, first):
            if mark := re.search(r"BLOCKER: (\S+)", line):
                found.add((number, mark[1]))
    return found


PARTS: dict[str, list[Any]] = {"Fifteen": [blocked.Inner], "Untranslated": [blocked.flipped]}


@pytest.mark.parametrize("name", layers(blocked))
def test_all_blockers_are_named_together(name: str, tmp_path: Path) -> None:
    kind = layers(blocked)[name]
    layer = kind()
    layer.eval()
    found = paddle_lab.check_export(layer, SPECIFICATION)

    assert {(one.line, one.kind) for one in found.blockers} == marked(kind, *PARTS.get(name, ()))
    assert {one.file for one in found.blockers} == {blocked.__file__}
    assert not found.ok
    if name != "Fifteen":  # there, Paddle's own loop would not end
        with pytest.raises(Exception):  # noqa: B017, PT011
            paddle.jit.save(kind(), str(tmp_path / "model"), SPECIFICATION)


@pytest.mark.parametrize("name", layers(healthy))
@pytest.mark.parametrize("mode", ["eval", "train"])
def test_a_healthy_model_has_no_blocker(name: str, mode: str) -> None:
    layer = layers(healthy)[name]()
    getattr(layer, mode)()
    found = paddle_lab.check_export(layer, SPECIFICATION)

    assert found.ok, found
    assert [stage.ran for stage in found.stages] == [True] * 6
    changes = name in ("Dropping", "Normed") and mode == "train"
    assert found.is_evaluated == changes


def test_numbers_of_the_specification_are_no_inputs_of_the_saved_model() -> None:
    class Scaled(paddle.nn.Layer):
        def forward(self, x: paddle.Tensor, factor: float, shift: bool) -> paddle.Tensor:
            return x * factor + shift

    layer = Scaled()
    layer.eval()
    assert paddle_lab.check_export(layer, [*SPECIFICATION, 3.0, True]).ok


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    TRANSLATED.mkdir(parents=True, exist_ok=True)
    files = set(TRANSLATED.iterdir())
    layer = healthy.Normed()
    layer.train()
    forward = vars(layer).get("forward")
    before = {name: value.numpy().copy() for name, value in layer.state_dict().items()}
    cache = paddle.jit.dy2static.program_translator._FUNCTION_CACHE
    known = len(cache._code_to_ast_caches)
    seen = [random.getstate(), np.random.get_state()[1].tolist()]
    paddle.seed(7)
    drawn = paddle.rand([3]).tolist()
    paddle.seed(7)

    assert paddle_lab.check_export(layer, SPECIFICATION).ok

    assert layer.training
    assert vars(layer).get("forward") is forward
    assert layer.seen == []
    assert all(
        np.array_equal(before[name], value.numpy()) for name, value in layer.state_dict().items()
    )
    assert paddle.jit.dy2static.program_translator._FUNCTION_CACHE is cache
    assert len(cache._code_to_ast_caches) == known
    assert [random.getstate(), np.random.get_state()[1].tolist()] == seen
    assert paddle.rand([3]).tolist() == drawn
    assert not list(tmp_path.iterdir())
    left = set(TRANSLATED.iterdir()) - files
    assert not [one for one in left if not Path("/proc", one.name).exists()]


class Counting(paddle.nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: Any) -> Any:
        self.calls += 1
        return x * self.calls


def test_a_frozen_python_value_is_named_by_the_first_stage_that_has_it() -> None:
    layer = Counting()
    found = paddle_lab.check_export(layer, SPECIFICATION)

    assert not found.ok
    assert found.first_difference == "to_static"
    assert layer.calls == 0


class Frozen(paddle.nn.Layer):
    def forward(self, x: Any) -> Any:
        rows = x.shape[0] if paddle.in_dynamic_mode() else 2
        return x.reshape([rows, 4]) * 2


def test_a_frozen_dimension_is_named() -> None:
    found = paddle_lab.check_export(Frozen(), SPECIFICATION)
    assert not found.ok
    assert not found.blockers
    assert [(one.input, one.axis) for one in found.frozen] == [("x", 0)]


class Crashing(paddle.nn.Layer):
    def forward(self, x: Any) -> Any:
        if not paddle.in_dynamic_mode() or x.shape[0] == 3:
            return x
        os.kill(os.getpid(), signal.SIGSEGV)
        return x


def test_a_crash_does_not_reach_this_process() -> None:
    found = paddle_lab.check_export(Crashing(), SPECIFICATION)
    assert not found.ok
    assert "SIGSEGV" in found.stages[0].error
    assert "fresh kernel" in found.stages[0].error


deaths: list[Path] = []


@paddle.jit.not_to_static
def die_twice() -> None:
    if not paddle.in_dynamic_mode() and len(list(deaths[-1].iterdir())) < 2:
        (deaths[-1] / str(os.getpid())).touch()
        os.kill(os.getpid(), signal.SIGSEGV)


class DyingTwice(paddle.nn.Layer):
    def forward(self, x: Any) -> Any:
        die_twice()
        return x * 2


def test_forks_that_die_by_themselves_are_no_crash_of_paddle(tmp_path: Path) -> None:
    deaths.append(tmp_path)
    found = paddle_lab.check_export(DyingTwice(), SPECIFICATION)
    assert len(list(tmp_path.iterdir())) == 2
    assert found.ok, found


def test_what_is_no_layer_is_refused() -> None:
    with pytest.raises(TypeError, match="Layer"):
        paddle_lab.check_export(paddle.tanh, SPECIFICATION)
    with pytest.raises(TypeError, match="input_spec"):
        paddle_lab.check_export(healthy.Normed(), None)


def test_programs_that_ran_before_do_not_wait_in_the_fork_for_threads_that_it_lacks() -> None:
    class Wide(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.linear = paddle.nn.Linear(4, 4)

        def forward(self, x: Any) -> Any:
            h = self.linear(x)
            return (paddle.tanh(h) + paddle.exp(h) + h * 2).sum()

    layer, x = paddle.jit.to_static(Wide(), full_graph=True), paddle.rand([3, 4])
    result = float(layer(x))

    def run(tell: Tell) -> None:
        for _ in range(3):
            tell(float(layer(x)))

    for _ in range(3):
        assert aside(run, seconds=20) == ([result] * 3, 0)


def test_a_compiled_layer_keeps_its_programs() -> None:
    layer = paddle.jit.to_static(healthy.Branching(), full_graph=True)
    layer(paddle.ones([2, 4]))
    forward, programs = layer.forward, dict(layer.forward.program_cache._caches)

    assert paddle_lab.check_export(layer, SPECIFICATION).ok

    assert layer.forward is forward
    assert dict(forward.program_cache._caches) == programs


def test_text_and_page(tmp_path: Path) -> None:
    found = paddle_lab.check_export(blocked.Raising(), SPECIFICATION)
    page = tmp_path / "check.html"
    found.to_html(page)
    (one,) = found.blockers
    assert one.advice in repr(found)
    for text in (found._repr_html_(), page.read_text(encoding="utf-8")):
        assert str(one.line) in text
        assert sentence_html(one.advice) in text


def test_arguments_of_a_block_are_objects_of_their_own() -> None:
    """Else pybind11 may take one for another value whose memory is at the same address later."""
    program = paddle.static.Program()
    paddle.enable_static()
    try:
        with paddle.static.program_guard(program):
            x = paddle.static.data("x", [4], "float32")
            paddle.static.nn.while_loop(lambda x: x.sum() < 1, lambda x: [x + 1], [x])
    finally:
        paddle.disable_static()
    loop = next(op for op in program.global_block().ops if op.name() == "pd_op.while")
    block = next(iter(loop.blocks()))
    known = block.args()

    with Isolation(paddle, []).again():
        assert block.args()[0] is not known[0]
        assert block.args()[0].is_same(known[0])
    assert block.args()[0] is known[0]
