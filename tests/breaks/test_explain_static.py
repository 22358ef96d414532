"""Each planted break is reported with its kind and line, and nothing else is reported."""

from __future__ import annotations

import gc
import random
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import pytest
from paddle.jit.sot.opcode_translator.executor.executor_cache import OpcodeExecutorCache
from paddle.jit.sot.opcode_translator.executor.opcode_executor import OpcodeExecutor
from paddle.jit.sot.opcode_translator.executor.pycode_generator import ResumeFunctionCreator

import paddle_lab
from tests.breaks import healthy, planted
from tests.breaks.planted import features, x

FILE = str(Path(planted.__file__))
_MARK = re.compile(r"# BREAK: ([a-z-]+)")


def name_of(function: Any) -> str:
    return getattr(function, "__name__", type(function).__name__)


def marks() -> set[tuple[str, int]]:
    lines = Path(FILE).read_text(encoding="utf-8").splitlines()
    return {(kind, number) for number, line in enumerate(lines, 1) for kind in _MARK.findall(line)}


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    return {
        name_of(function): paddle_lab.explain_static(function, x) for function in planted.FUNCTIONS
    }


def test_every_planted_break_is_named_and_no_other(told: dict[str, Any]) -> None:
    # Once PaddleFormers is imported, its own Tensor.numpy breaks graphs in its file, too.
    found = {
        (one.kind, one.line) for each in told.values() for one in each.breaks if one.file == FILE
    }
    assert found == marks()
    assert len(planted.FUNCTIONS) >= 25


def test_each_break_has_its_expression_advice_and_cost(told: dict[str, Any]) -> None:
    (one,) = told["clipped_update"].breaks
    assert (one.cause, one.function, one.reason) == ("norm > 1.0", "", "")
    assert "paddle.where" in one.advice
    assert told["clipped_update"].pieces == 2
    (one,) = told["nested_helper"].breaks
    assert one.cause == "energy > limit"
    loop, condition = sorted(told["skip_rows"].breaks, key=lambda one: one.line)
    assert (loop.cause, loop.function) == ("for row in y", "skip_rows")
    assert (condition.cause, condition.function) == ("row.sum() < 0", "skip_rows")
    assert [one.function for one in told["forgiving"].breaks] == ["forgiving"]
    # Paddle itself fails after an ``or`` whose first operand is true.
    (one,) = told["any_active"].breaks
    assert f"`{one.cause}` (line {one.line})" in told["any_active"].error
    for each in told.values():
        assert "breaks." not in f"{each!r}{each._repr_html_()}"
        assert each.breaks[0].where in repr(each)


def test_the_eager_ops_are_those_that_paddle_ran(told: dict[str, Any]) -> None:
    assert told["as_float"].eager_ops == 0
    assert told["without_gradient"].eager_ops == 1  # y - target; the helper is a program
    assert not told["as_float"].has_small_pieces


def few_ops(y: Any) -> Any:
    return y * 2 if y.mean() > 0.5 else y - 1


def test_pieces_that_are_too_small_to_compile_are_explained() -> None:
    found = paddle_lab.explain_static(few_ops, x)
    assert [one.kind for one in found.breaks] == ["if"]
    assert (found.pieces, found.has_small_pieces) == (0, True)
    assert "MIN_GRAPH_SIZE" in repr(found)


@pytest.mark.parametrize("function", healthy.FUNCTIONS, ids=name_of)
def test_what_is_compiled_whole_has_no_break(function: Any) -> None:
    found = paddle_lab.explain_static(function, x)
    assert (found.breaks, found.recompilations, found.error) == ([], [], "")
    assert (found.pieces, found.eager_ops) == (1, 0)


def compiled(functions: Any) -> tuple[list[bytes], list[Any]]:
    """Compile and call functions; return their results, and the pieces that SOT made."""
    OpcodeExecutorCache().clear()
    results = []
    for seed, function in enumerate(functions):
        for one in (paddle.seed, np.random.seed, random.seed):
            one(seed)
        with suppress(Exception):  # SOT cannot compile `any_active` itself
            result = paddle.jit.to_static(function, full_graph=False)(x)
            if name_of(function) != "timed":
                values = [one for one in paddle.utils.flatten(result) if hasattr(one, "shape")]
                results += [np.asarray(one).tobytes() for one in values]
    cache = OpcodeExecutorCache().cache.items()
    return results, [
        (code.co_name.partition("_")[0], len(held[0]), [made is None for (made, _), _ in held[0]])
        for code, held in cache
    ]


@pytest.mark.usefixtures("told")  # SOT never again looks at some functions that it has met
def test_findings_name_the_same_lines_and_a_trace_changes_neither_results_nor_pieces() -> None:
    functions = [*planted.FUNCTIONS, *healthy.FUNCTIONS]
    break_at_call = vars(OpcodeExecutor)["_break_graph_when_call"]
    states = [one.state_dict() for one in functions if isinstance(one, paddle.nn.Layer)]
    before = [{name: value.clone() for name, value in one.items()} for one in states]
    plain = compiled(functions)
    for state, values in zip(states, before, strict=True):
        for name, value in values.items():
            paddle.assign(value, state[name])
    with paddle_lab.trace() as trace:
        traced = compiled(functions)
    assert plain == traced
    assert len(plain[0]) > 30
    assert vars(OpcodeExecutor)["_break_graph_when_call"] is break_at_call
    found = [one for one in trace.findings if " again at " not in one.message]
    lines = {one.line for one in found if Path(one.file) == Path(FILE)}
    assert lines == {line for _, line in marks()}
    assert all(one.code for one in found)
    with paddle_lab.trace() as again:  # nothing is compiled now
        paddle.jit.to_static(planted.clipped_update, full_graph=False)(x)
    assert again.findings == []


@pytest.fixture(scope="module", autouse=True)
def _little_garbage() -> Iterator[None]:
    """SOT collects garbage after each translation. Leave little for the collector to visit."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def fresh() -> Iterator[None]:
    yield
    OpcodeExecutorCache().clear()


def scaled(y, factor):
    return features(y) * factor


@pytest.mark.usefixtures("fresh")
def test_recompilations_are_those_that_the_cache_holds_and_the_one_to_come() -> None:
    static = paddle.jit.to_static(scaled, full_graph=False)
    for factor in (1.5, 2.5):
        static(x, factor)
    found = paddle_lab.explain_static(static, x, 3.5)
    first = scaled.__code__.co_firstlineno
    assert [(one.line, one.cause, one.before, one.now) for one in found.recompilations] == [
        (first + 1, "factor", "1.5", "2.5"),
        (first + 1, "factor", "2.5", "3.5"),
    ]
    found = paddle_lab.explain_static(static, x, 2.5)
    assert len(found.recompilations) == 1
    assert len(OpcodeExecutorCache().cache[scaled.__code__][0]) == 2


def summed(parts):
    total = 0
    for part in parts:
        total = total + part
    return features(total)


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(
    ("function", "calls", "cause"),
    [
        (scaled, [(x, 1), (x, 2)], "factor"),
        (summed, [([x, x],), ([x, x, x],)], "len(parts)"),
        (features, [(paddle.ones([2, 3]),), (paddle.ones([3, 3]),)], "y.shape[0]"),
        (features, [(paddle.ones([2, 3]),), (paddle.ones([3]),)], "len(y.shape)"),
    ],
)
def test_a_traced_cell_tells_what_changed(function: Any, calls: Any, cause: str) -> None:
    static = paddle.jit.to_static(function, full_graph=False)
    with paddle_lab.trace() as trace:
        for arguments in calls:
            static(*arguments)
    (found,) = trace.findings
    assert f"`{cause}`" in found.message


@pytest.mark.usefixtures("fresh")
def test_a_training_flag_compiles_again() -> None:
    network = healthy.Network()
    static = paddle.jit.to_static(network, full_graph=False)
    static(x)
    network.eval()
    (one,) = paddle_lab.explain_static(static, x).recompilations
    assert (one.cause, one.before, one.now) == ("self.training", "True", "False")


seen = 0


class Stateful(healthy.Network):
    def __init__(self) -> None:
        super().__init__()
        self.calls, self.log = 0, []

    def forward(self, y):
        self.calls += 1
        self.log.append(self.calls)
        global seen  # noqa: PLW0603
        seen += self.calls
        return super().forward(y) + paddle.rand([3]) * np.random.rand()


def state_of(network: Any) -> list[Any]:
    caches = OpcodeExecutorCache()
    return [
        *(value.numpy().tobytes() for value in network.state_dict().values()),
        network.calls, list(network.log), sorted(vars(network)), network.training,
        np.random.get_state()[1].tolist(), seen, sorted(vars(healthy)),
        sorted(globals()),
        {code: len(held[0]) for code, held in caches.cache.items()}, caches.translate_count,
        len(ResumeFunctionCreator.CODE_CACHE),
    ]  # fmt: skip


@pytest.mark.parametrize("mode", [None, False, True], ids=["plain", "sot", "full graph"])
def test_everything_is_put_back(mode: bool | None) -> None:
    network = Stateful()
    static = network if mode is None else paddle.jit.to_static(network, full_graph=mode)
    paddle.seed(3)
    before = state_of(network)
    found = paddle_lab.explain_static(static, x)
    assert found.error == ""
    assert state_of(network) == before
    drawn = paddle.rand([2]).tolist()
    paddle.seed(3)
    assert paddle.rand([2]).tolist() == drawn


def raising(y):
    print(features(y))  # noqa: T201
    raise ValueError("as the user wrote it")


def test_an_error_of_the_function_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    found = paddle_lab.explain_static(raising, x)
    assert "ValueError: as the user wrote it" in found.error
    assert f"{Path(__file__).name}:{raising.__code__.co_firstlineno + 2}" in found.error
    assert found.error in repr(found)
    assert capsys.readouterr().out == ""
    wrong = paddle_lab.explain_static(features)
    assert "TypeError" in wrong.error


def unlike(y):
    if y.sum() > 0:  # noqa: SIM108
        z = [1]
    else:
        z = "a"
    return z


def left_loop(y):
    for row in y:
        if row.sum() > 0:
            break
    return y + 1


@pytest.mark.parametrize(("function", "line"), [(unlike, 1), (left_loop, 1)])
def test_what_cannot_be_compiled_whole_is_named(function: Any, line: int) -> None:
    static = paddle.jit.to_static(function, full_graph=True)
    (one,) = paddle_lab.explain_static(static, x).breaks
    assert (one.kind, one.file) == ("full-graph", __file__)
    assert one.line == function.__code__.co_firstlineno + line
