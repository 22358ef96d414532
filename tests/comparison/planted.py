"""Programs in two versions: one edited line, and where the two runs must first differ."""

from __future__ import annotations

import linecache
from typing import NamedTuple

import paddle

import paddle_lab
from paddle_lab.capture.hooks.hooks import HOOKS

_PROGRAM = """
import ctypes
import numpy
import paddle
from paddle import nn
import paddle.nn.functional as F
import paddle_lab

class Block(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner = nn.Linear(width, 2 * width)
        self.outer = nn.Linear(2 * width, width)

    def forward(self, x):
        h = self.norm(x)
        h = F.gelu(self.inner(h))
        h = F.dropout(h, 0.1, training=self.training)
        return x + self.outer(h)

class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(6, 8)
        self.blocks = nn.LayerList([Block(8) for _ in range(3)])
        self.head = nn.Linear(8, 4)

    def attend(self, x):
        mask = paddle.triu(paddle.full([5, 5], -1e9), 1)
        score = paddle.matmul(x, x, transpose_y=True)
        score = score * 8 ** -0.5
        return paddle.matmul(F.softmax(score + mask), x)

    def forward(self, x):
        x = self.embed(x)
        x = x + self.attend(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)

def stub():
    # Another version of Paddle may have another kernel, which rounds otherwise.
    gelu = paddle._C_ops.gelu
    def other(x, approximate=False):
        made = gelu(x, approximate)
        memory = (ctypes.c_float * int(made.size)).from_address(made.data_ptr())
        numpy.frombuffer(memory, numpy.float32)[:] *= 1 + 1e-6
        return made
    other.__name__ = "gelu"
    paddle.base.core.eager.ops.gelu = paddle._C_ops.gelu = other

paddle.seed(0)
data = paddle.randn([3, 2, 5, 6])
target = paddle.randint(0, 4, [3, 2, 5])
net = Net()
optimizer = paddle.optimizer.AdamW(0.01, parameters=net.parameters(), weight_decay=0.1)
paddle.seed(1)
with paddle_lab.trace(digest=True) as trace:
    for step in range(2):
        logits = net(data[step])
        loss = F.cross_entropy(logits.reshape([-1, 4]), target[step].flatten())
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    accuracy = (logits.argmax(-1) == target[step]).astype("float32").mean()
"""


class Edit(NamedTuple):
    """One edit of the program, and its first effect."""

    name: str
    before: str
    after: str
    line: str
    """Text on the line of the first op that differs."""
    state: str = "different"
    op: str = ""
    """The op, where the line has several."""
    old_line: str = ""
    """Text on its line in the unedited program, if it is another."""


def edited(edit: Edit) -> tuple[paddle_lab.Trace, list[str]]:
    """Run the edited program; return its trace and its lines."""
    assert _PROGRAM.count(edit.before) == 1, edit.name
    return _ran(_PROGRAM.replace(edit.before, edit.after), edit.name)


def unedited() -> tuple[paddle_lab.Trace, list[str]]:
    """Run the program as it is."""
    return _ran(_PROGRAM, "unedited")


def _ran(program: str, name: str) -> tuple[paddle_lab.Trace, list[str]]:
    file = f"<planted {name}>"
    lines = program.splitlines(keepends=True)
    linecache.cache[file] = len(program), None, lines, file
    state, modules = paddle.get_rng_state(), (paddle.base.core.eager.ops, paddle._C_ops)
    kernels = [module.gelu for module in modules]
    if "stub();" in program:
        HOOKS._op_hooks = None  # they are made once, from the ops that there are then
    try:
        names: dict[str, paddle_lab.Trace] = {"__name__": "planted"}  # type: ignore[dict-item]
        exec(compile(program, file, "exec"), names)
    finally:
        if "stub();" in program:
            for module, gelu in zip(modules, kernels, strict=True):
                module.gelu = gelu
            HOOKS._op_hooks = None
        paddle.set_rng_state(state)
        del linecache.cache[file]
    return names["trace"], program.splitlines()


_HEAD = "        x = self.embed(x)\n"
PLANTED = [
    Edit("constant", "score * 8 ** -0.5", "score * 8 ** -1.5", "8 ** -1.5", old_line="8 ** -0.5"),
    Edit("dtype of one layer", "h = F.gelu(self.inner(h))",
         'h = F.gelu(self.inner(h).astype("float64")).astype("float32")',
         'astype("float64")', "only_b", "cast"),
    Edit("seed", "paddle.seed(0)", "paddle.seed(2)", "net(data[step])"),
    Edit("order of layers", "h = self.norm(x)\n        h = F.gelu(self.inner(h))",
         "h = F.gelu(self.inner(x))\n        h = F.gelu(h)", "self.norm", "only_a"),
    Edit("dropped scale", "        score = score * 8 ** -0.5\n", "", "score * 8", "only_a"),
    Edit("eps", "nn.LayerNorm(width)", "nn.LayerNorm(width, epsilon=1e-3)", "self.norm(x)"),
    Edit("mask", "paddle.full([5, 5], -1e9), 1)", "paddle.full([5, 5], -1e9), 0)", "triu"),
    Edit("initialiser", "self.head = nn.Linear(8, 4)",
         "self.head = nn.Linear(8, 4, weight_attr=nn.initializer.Normal(0, 0.3))",
         "self.head(x)"),
    Edit("eval for train", "paddle.seed(1)", "net.eval()", "F.dropout"),
    Edit("op inserted", _HEAD, _HEAD + "        x = x.clip(-1, 1)\n", "x.clip", "only_b"),
    Edit("op removed", "        x = x + self.attend(x)\n", "", "paddle.full", "only_a"),
    Edit("a turn more", "range(2)", "range(3)", "net(data[step])", "only_b"),
    Edit("learning rate", "AdamW(0.01", "AdamW(0.02", "optimizer.step()"),
    Edit("weight decay", "weight_decay=0.1", "weight_decay=0.2", "optimizer.step()"),
    Edit("data order", "net(data[step])", "net(data[1 - step])", "data[1 - step]",
         old_line="data[step]"),
    Edit("split op", "self.head(x)", "paddle.matmul(x, self.head.weight) + self.head.bias",
         "self.head", "only_a", old_line="self.head(x)"),
    Edit("activation", "F.gelu(self", "F.relu(self", "F.relu", old_line="F.gelu"),
    Edit("dropout rate", "F.dropout(h, 0.1", "F.dropout(h, 0.2", "F.dropout"),
    Edit("another target", "target[step].flatten()", "target[1 - step].flatten()",
         "target[1 - step]", old_line="target[step].flatten()"),
    Edit("gradient through", "(logits.argmax(-1)", "(net(data[step]).argmax(-1)", "net(data[step])",
         "only_b"),
    Edit("another kernel of gelu", "paddle.seed(1)", "stub(); paddle.seed(1)", "F.gelu"),
    Edit("detached", "self.attend(x)", "self.attend(x.detach())", "paddle.matmul(x, x"),
    Edit("frozen weight", "paddle.seed(1)",
         "paddle.seed(1); net.head.weight.stop_gradient = True", "self.head(x)"),
    Edit("no backward", "        loss.backward()\n", "", "optimizer.step()", "only_a"),
    Edit("a block more", "range(3)]", "range(4)]", "self.norm(x)", "only_b"),
]  # fmt: skip
EQUAL = [
    Edit("layer renamed", "self.embed = nn.Linear(6, 8)",
         "self.project = nn.Linear(6, 8); self.embed = lambda x: self.project(x)", ""),
]  # fmt: skip
