"""Automatic mixed precision. On a CPU ``auto_cast`` changes nothing, so one model casts by hand."""

from __future__ import annotations

import warnings

import paddle
from paddle import Tensor, nn

from tests.models.step import BeforeBackward, Build, Result, Step, gradients_of, look_away, seed


def autocast() -> Step:
    """``auto_cast`` to bfloat16 and a ``GradScaler``, as a training loop writes them."""
    seed()
    network = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 4))
    data, labels = paddle.randn([4, 8]), paddle.randint(0, 4, [4])
    optimizer = paddle.optimizer.SGD(parameters=network.parameters())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "not supported on CPU": known, and part of the test
        scaler = paddle.amp.GradScaler(init_loss_scaling=1024)

    def step(before_backward: BeforeBackward = look_away) -> Result:
        network.clear_gradients()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with paddle.amp.auto_cast(dtype="bfloat16", level="O1"):
                loss = nn.functional.cross_entropy(network(data), labels)
        scaled = scaler.scale(loss)
        before_backward([scaled])
        scaled.backward()
        scaler.step(optimizer)
        scaler.update()
        return loss, gradients_of(network)

    return step


def bfloat16() -> Step:
    """Elementwise work in bfloat16 between float32 layers, cast by hand."""
    seed()
    network = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))
    data = paddle.randn([4, 8])

    def step(before_backward: BeforeBackward = look_away) -> Result:
        network.clear_gradients()
        hidden: Tensor = network[0](data).cast("bfloat16")
        hidden = (hidden + 1) * hidden  # the CPU has no bfloat16 kernel for much more
        loss = network[1](hidden.astype("float32")).mean()
        before_backward([loss])
        loss.backward()
        return loss, gradients_of(network)

    return step


MODELS: dict[str, Build] = {"autocast": autocast, "bfloat16": bfloat16}
