"""Errors as real Paddle raises them on a CPU: for each row's id, a function that raises."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import paddle
from paddle.nn import functional as F


@contextmanager
def static():
    paddle.enable_static()
    try:
        yield paddle.static.data("x", [2, 2])
    finally:
        paddle.disable_static()


def _leaf(shape=(4,)):
    tensor = paddle.ones(list(shape))
    tensor.stop_gradient = False
    return tensor


def _pylayer(forward, backward):
    class Own(paddle.autograd.PyLayer):
        pass

    Own.forward, Own.backward = staticmethod(forward), staticmethod(backward)
    Own.apply(_leaf() * 1).sum().backward()


def _static_numpy():
    with static() as x:
        x.numpy()


def _static_condition():
    with static() as x:
        return 1 if x.sum() > 0 else 2


def _static_layer():
    net = paddle.nn.Linear(2, 2)
    with static() as x:
        net(x)


def _static_sum():
    made = paddle.ones([2, 2])
    with static() as x:
        x + made


def _static_backward():
    with static() as x:
        x.sum().backward()


def _without_startup():
    with static():
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            x = paddle.static.data("x", [2, 2])
            y = paddle.static.nn.fc(x, 3)
        feed = {"x": np.ones([2, 2], "float32")}
        paddle.static.Executor().run(main, feed=feed, fetch_list=[y])


class _Branches(paddle.nn.Layer):
    def forward(self, x):
        if x.sum() > 0:  # noqa: SIM108
            y = "text"
        else:
            y = x
        return y


class _TwoInputs(paddle.nn.Layer):
    def forward(self, x, y):
        return x + y


def _spec():
    return [paddle.static.InputSpec([None, 2])]


def _path():
    return f"{mkdtemp()}/model"


def _garbage():
    path = Path(mkdtemp()) / "model.pdparams"
    path.write_bytes(b"garbage")
    paddle.load(str(path))


def _adam(width=3):
    net = paddle.nn.BatchNorm1D(width)
    adam = paddle.optimizer.Adam(0.1, parameters=net.parameters())
    net(paddle.randn([4, width])).sum().backward()
    adam.step()
    return adam


def _state_without_moments():
    adam = _adam()
    adam.set_state_dict({k: v for k, v in adam.state_dict().items() if "moment" not in k})


def _state_of_another_width():
    adam, wider = _adam(), _adam(5)
    wider.set_state_dict(dict(zip(wider.state_dict(), adam.state_dict().values(), strict=True)))


def _modified_in_place():
    x = _leaf()
    y = x**2
    z = y**2
    y[1:2] = 3.0
    z.sum().backward()


def _twice():
    loss = (_leaf() ** 2).sum()
    loss.backward()
    loss.backward()


def _second_derivative():
    x = _leaf()
    (g,) = paddle.grad(paddle.erf(x), [x], create_graph=True)
    (g * g).sum().backward()


class _NoSuper(paddle.nn.Layer):
    def __init__(self):
        self.inner = paddle.nn.Linear(2, 2)


def _nan():
    paddle.set_flags({"FLAGS_check_nan_inf": 1})
    try:
        paddle.log(paddle.to_tensor([-1.0]))
    finally:
        paddle.set_flags({"FLAGS_check_nan_inf": 0})


class _Failing(paddle.io.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        raise ValueError(index)


def _linear(width=4):
    return paddle.nn.Linear(width, 2)


RAISED: list[tuple[str, Callable[[], Any]]] = [
    ("startup-program-not-run", _without_startup),
    ("dynamic-call-in-static-mode", _static_numpy),
    ("dynamic-call-in-static-mode", _static_condition),
    ("static-call-in-dynamic-mode", lambda: paddle.static.data("x", [2, 2])),
    ("eager-tensor-in-static-graph", _static_layer),
    ("eager-tensor-in-static-graph", _static_sum),
    ("symbolic-value-attribute", _static_backward),
    ("optimizer-without-parameters", lambda: paddle.optimizer.Adam(0.1)),
    ("out-of-host-memory", lambda: paddle.empty([1 << 48])),
    ("export-without-input-spec", lambda: paddle.jit.save(_linear(), _path())),
    ("export-input-spec-count", lambda: paddle.jit.save(_TwoInputs(), _path(), input_spec=_spec())),
    ("export-of-no-layer", lambda: paddle.jit.save({}, _path())),
    ("export-path", lambda: paddle.jit.save(_linear(2), mkdtemp() + "/", input_spec=_spec())),
    ("export-control-flow", lambda: paddle.jit.save(_Branches(), _path(), input_spec=_spec())),
    ("model-file-missing", lambda: paddle.load("/nowhere/model.pdparams")),
    ("model-file-missing", lambda: paddle.jit.load("/nowhere/model")),
    (
        "model-file-missing",
        lambda: paddle.inference.Config("/nowhere/a.json", "/nowhere/a.pdiparams"),
    ),
    ("file-not-readable", _garbage),
    ("optimizer-state-missing", _state_without_moments),
    ("state-shape-mismatch", _state_of_another_width),
    ("state-shape-mismatch", lambda: _linear().weight.set_value(np.ones([3, 3], "float32"))),
    ("state-dict-argument-missing", lambda: paddle.nn.BatchNorm(3).set_state_dict()),
    ("inplace-version", _modified_in_place),
    ("backward-twice", _twice),
    ("leaf-in-place", lambda: _leaf().add_(paddle.ones([4]))),
    ("leaf-in-place", lambda: _leaf().__setitem__(0, 1.0)),
    ("input-not-in-graph", lambda: paddle.grad([_leaf().sum()], [_leaf()])),
    ("gradient-shape", lambda: (_leaf() * 2).backward(paddle.ones([3]))),
    ("double-grad-missing", _second_derivative),
    ("pylayer-backward-count", lambda: _pylayer(lambda _, x: x * 2, lambda _, g: (g, g))),
    ("pylayer-backward-value", lambda: _pylayer(lambda _, x: x * 2, lambda *_: 3.0)),
    ("pylayer-forward-value", lambda: _pylayer(lambda *_: 3, lambda _, g: g)),
    ("matmul-shape", lambda: _linear()(paddle.ones([2, 3]))),
    ("matmul-shape", lambda: paddle.ones([2, 3]) @ paddle.ones([4])),
    ("matrix-width", lambda: paddle.nn.LSTM(4, 8)(paddle.ones([2, 3, 5]))),
    ("broadcast-shape", lambda: paddle.ones([2, 3]) + paddle.ones([2, 4])),
    ("conv-channels", lambda: paddle.nn.Conv2D(3, 4, 3)(paddle.ones([1, 1, 8, 8]))),
    ("conv-rank", lambda: paddle.nn.Conv2D(3, 4, 3)(paddle.ones([3, 8, 8]))),
    ("normalization-channels", lambda: paddle.nn.BatchNorm2D(3)(paddle.ones([1, 4, 8, 8]))),
    ("layer-input-rank", lambda: paddle.nn.BatchNorm2D(3)(paddle.ones([1, 3]))),
    ("reshape-size", lambda: paddle.ones([2, 3]).reshape([4, 2])),
    ("concat-shape", lambda: paddle.concat([paddle.ones([2, 3]), paddle.ones([2, 4])])),
    ("concat-shape", lambda: paddle.stack([paddle.ones([2, 3]), paddle.ones([2, 4])])),
    ("setitem-shape", lambda: paddle.ones([2, 3]).__setitem__(0, paddle.ones([4]))),
    ("axis-out-of-range", lambda: paddle.sum(paddle.ones([2, 3]), axis=5)),
    ("dtype-mismatch", lambda: _linear(2)(paddle.to_tensor(np.ones([2, 2])))),
    ("type-promotion", lambda: paddle.add(_leaf(), paddle.ones([4], "int32"))),
    ("kernel-missing", lambda: F.softmax(paddle.ones([2], "int32"))),
    ("kernel-missing", lambda: paddle.matmul(*[paddle.ones([2, 2], "float16")] * 2)),
    ("index-dtype", lambda: paddle.nn.Embedding(4, 2)(paddle.to_tensor([1.0]))),
    ("no-cuda-build", lambda: paddle.set_device("gpu")),
    ("no-cuda-build", paddle.device.cuda.max_memory_allocated),
    ("place-not-usable", lambda: paddle.to_tensor([1.0], place=paddle.CUDAPlace(0))),
    ("place-not-usable", lambda: paddle.ones([2]).cuda()),
    ("device-name", lambda: paddle.set_device("npu0")),
    ("group-not-initialized", lambda: paddle.distributed.all_reduce(paddle.ones([2]))),
    ("label-out-of-range", lambda: F.cross_entropy(paddle.randn([2, 3]), paddle.to_tensor([1, 5]))),
    ("label-negative", lambda: F.cross_entropy(paddle.randn([2, 3]), paddle.to_tensor([1, -1]))),
    ("label-shape", lambda: F.cross_entropy(paddle.randn([2, 3]), paddle.to_tensor([1, 2, 1]))),
    ("nll-label-out-of-range", lambda: F.nll_loss(paddle.randn([2, 3]), paddle.to_tensor([1, 5]))),
    ("embedding-out-of-range", lambda: paddle.nn.Embedding(4, 2)(paddle.to_tensor([1, 9]))),
    ("index-out-of-range", lambda: paddle.gather(paddle.ones([3, 2]), paddle.to_tensor([5]))),
    ("index-out-of-range", lambda: paddle.ones([3, 2])[5]),
    ("one-hot-out-of-range", lambda: F.one_hot(paddle.to_tensor([5]), 3)),
    ("nan-found", _nan),
    ("several-values-as-one", lambda: float(paddle.ones([2]))),
    ("several-values-as-one", lambda: 1 if paddle.ones([2]) > 0 else 2),
    ("several-values-as-one", lambda: paddle.ones([2]).item()),
    ("not-invertible", lambda: paddle.linalg.inv(paddle.zeros([2, 2]))),
    ("not-invertible", lambda: paddle.linalg.cholesky(-paddle.eye(3))),
    ("integer-division-by-zero", lambda: paddle.ones([2], "int32") // paddle.zeros([2], "int32")),
    ("tensor-from-what", lambda: paddle.to_tensor({"a": 1})),
    ("tensor-from-what", lambda: paddle.to_tensor(np.array(["a"], object))),
    ("layer-init-not-called", _NoSuper),
    ("head-count", lambda: paddle.nn.MultiHeadAttention(5, 2)),
    ("tensor-attribute", lambda: paddle.ones([2]).zero_grad()),
    ("paddle-attribute", lambda: paddle.nn.MaxPool2d),
    ("paddle-attribute", lambda: paddle.fluid),
    ("torch-keyword", lambda: paddle.nn.Linear(2, 2, bias=False)),
    ("torch-keyword", lambda: paddle.optimizer.Adam(_linear().parameters(), lr=0.1)),
]

IN_A_PROCESS_OF_THEIR_OWN = {
    "dataloader-reader-failed": lambda: list(
        paddle.io.DataLoader(_Failing(), batch_size=2, num_workers=1)
    ),
}
"""What leaves threads or processes behind."""
