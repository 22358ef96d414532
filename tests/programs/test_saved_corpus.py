"""All models of the corpus, saved by Paddle and opened where Paddle is not installed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import paddle
import pytest

import paddle_lab
from tests.programs.models import MODELS
from tests.programs.test_saved_model import blocks_of, names_in
from tests.programs.without_paddle import told_by, told_elsewhere


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Save each model in a traced cell, which also writes its lines. Return the files."""
    folder = tmp_path_factory.mktemp("模型")
    with paddle_lab.trace() as trace:
        for name, (make, inputs) in MODELS.items():
            layer, x = make(), inputs()
            layer.eval()
            spec = [paddle.static.InputSpec([None, *x.shape[1:]], x.dtype, "x")]
            paddle.jit.save(layer, str(folder / name), input_spec=spec)
    assert not [notice for notice in trace.record.origin.notices if "lines" in notice]
    return {name: folder / f"{name}.json" for name in MODELS}


@pytest.fixture(scope="module")
def elsewhere(models: dict[str, Path]) -> dict[str, Any]:
    return dict(zip(models, told_elsewhere([*models.values()]), strict=True))


@pytest.mark.parametrize("name", MODELS)
def test_the_graph_is_the_same_without_paddle_and_every_op_has_a_line(
    name: str, models: dict[str, Path], elsewhere: dict[str, Any]
) -> None:
    assert elsewhere[name] == told_by(paddle_lab.program(models[name]))
    (ops,), _, _ = elsewhere[name]
    program = paddle.static.Program()
    paddle.base.core.deserialize_pir_program(str(models[name]), program)
    paddles = sum(map(names_in, blocks_of(program.global_block())), Counter())
    assert Counter(op[0] for op in ops) == paddles
    places = {(file, line > 0) for _, _, file, line in ops}
    assert {is_line for _, is_line in places} == {True}
    assert {Path(file).suffix for file, _ in places} == {".py"}
