"""The hooks behind gradient statistics crash nothing, and are removed after a backward pass."""

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

import paddle_lab
from paddle_lab.capture.evidence.gradients.list_slots import takes_post_hook
from paddle_lab.capture.evidence.gradients.post_hooks import PostHook

ROOT = Path(__file__).parents[3]


def test_undefined_gradients_and_slots_of_several_kill_nothing():
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.capture.gradients.undefined_gradients"],
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
    """Return how many hooks of a watch are still referenced, for example by a grad node."""
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
