"""The models of the tapes: a decoder of many blocks, and graphs of one shape each."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.tape_writer import TapeWriter

_MODEL_LINES = 80
_STRAIGHT = "straight.py"


def decoder(*, blocks: int, experts: int, odd: int = -1, has_one_mask: bool = True) -> TapeWriter:
    """Return a training step of a decoder whose blocks each have attention and ``experts``.

    A block has 8 ops and 13 grad nodes per expert, and 23 ops and 39 grad nodes besides. Block
    ``odd`` has one op more than the others. All blocks use one mask, or each makes its own.
    """
    tape = TapeWriter("Cell 4")
    tape.source("cell", ["loss = net(ids).mean()", "loss.backward()", "optimizer.step()"])
    tape.source("model.py", [f"        x = step_{line}(x)" for line in range(1, _MODEL_LINES)])
    parameters: list[int] = []
    ids = tape.data([1, 64])
    with tape.layer("net", "Decoder", line=1):
        with tape.layer("embed", "Embedding", line=3, file="paddle/nn/layer/common.py"):
            weight = tape.parameter("weight", [1000, 64])
            parameters.append(weight)
            x = tape.op("embedding", ids, weight, line=2484, attributes="-1, False")
        ones = tape.data([64, 64])
        mask = tape.op("triu", ones, line=4, grad_nodes=()) if has_one_mask else -1
        for block in range(blocks):
            with tape.layer(f"blocks.{block}", "Block", line=6):
                own = mask if has_one_mask else tape.op("triu", ones, line=11, grad_nodes=())
                x = _block(tape, x, own, experts, parameters)
                if block == odd:
                    x = tape.op("clip", x, line=30, attributes="-1.0, 1.0")
        x = _norm(tape, "norm", x, line=8, parameters=parameters)
        x = _linear(tape, "head", x, line=9, parameters=parameters)
    loss = tape.op("mean", x, line=1, shape=[])
    tape.backward(loss, line=2)
    with tape.scope("optimizer", "AdamW"):
        for first in range(0, len(parameters), 64):
            tape.optimizer_op("merged_adam_", parameters[first : first + 64], line=3)
    tape.optimizer("AdamW", parameters)
    return tape


def plain_blocks(*, blocks: int, parts: int, ops: int, odd: int) -> TapeWriter:
    """Return ``blocks`` layers of ``parts`` layers of ``ops`` ops each, only the forward.

    An op reads the previous op, and the op three before it if both are in the same part. So an edge
    leaves a part only to the next one. Block ``odd`` has one op more than the others.
    """
    tape = TapeWriter("Cell 4")
    tape.source("cell", ["y = net(x)"])
    x = tape.data([32, 64])
    with tape.layer("net", "Net", line=1):
        for block in range(blocks):
            with tape.layer(f"blocks.{block}", "Block", line=6):
                for part in range(parts):
                    with tape.layer(f"parts.{part}", "Part", line=9):
                        made = [x]
                        for _ in range(ops):
                            made.append(tape.op("add", *made[-1:-4:-2], line=12, grad_nodes=()))
                        x = made[-1]
                if block == odd:
                    x = tape.op("clip", x, line=14, grad_nodes=())
    return tape


def _linear(tape: TapeWriter, name: str, x: int, *, line: int, parameters: list[int]) -> int:
    with tape.layer(name, "Linear", line=line, file="paddle/nn/layer/common.py"):
        weight, bias = tape.parameter("weight", [64, 64]), tape.parameter("bias", [64])
        parameters += [weight, bias]
        return tape.op("linear", x, weight, bias, line=234, grad_nodes=("Add", "Matmul"))


def _norm(tape: TapeWriter, name: str, x: int, *, line: int, parameters: list[int]) -> int:
    with tape.layer(name, "LayerNorm", line=line, file="paddle/nn/layer/norm.py"):
        weight, bias = tape.parameter("weight", [64]), tape.parameter("bias", [64])
        parameters += [weight, bias]
        return tape.op("layer_norm", x, weight, bias, line=530, attributes="1e-05, 2")


def _block(tape: TapeWriter, x: int, mask: int, experts: int, parameters: list[int]) -> int:
    h = _norm(tape, "norm1", x, line=12, parameters=parameters)
    with tape.layer("attention", "Attention", line=13):
        h = _attention(tape, h, mask, parameters)
    x = tape.op("add", x, h, line=13)
    h = _norm(tape, "norm2", x, line=14, parameters=parameters)
    with tape.layer("mixture", "Mixture", line=15):
        h = _mixture(tape, h, experts, parameters)
    return tape.op("add", x, h, line=15)


def _attention(tape: TapeWriter, x: int, mask: int, parameters: list[int]) -> int:
    heads = []
    for line, name in enumerate(("query", "key", "value"), start=40):
        projected = _linear(tape, name, x, line=line, parameters=parameters)
        split = tape.op("reshape", projected, line=line, attributes="[1, 64, 4, 16]")
        heads.append(tape.op("transpose", split, line=line, attributes="[0, 2, 1, 3]"))
    query, key, value = heads
    key = tape.op("transpose", key, line=43, attributes="[0, 1, 3, 2]")
    scores = tape.op("matmul", query, key, line=43, shape=[1, 4, 64, 64])
    scores = tape.op("scale", scores, line=44, attributes="0.25", shape=[1, 4, 64, 64])
    scores = tape.op("add", scores, mask, line=44, shape=[1, 4, 64, 64])
    weights = tape.op("softmax", scores, line=45, attributes="-1", shape=[1, 4, 64, 64])
    mixed = tape.op("matmul", weights, value, line=46)
    mixed = tape.op("transpose", mixed, line=47, attributes="[0, 2, 1, 3]")
    mixed = tape.op("reshape", mixed, line=47, attributes="[1, 64, 64]")
    return _linear(tape, "out", mixed, line=48, parameters=parameters)


def _mixture(tape: TapeWriter, x: int, experts: int, parameters: list[int]) -> int:
    with tape.layer("router", "Linear", line=52, file="paddle/nn/layer/common.py"):
        weight = tape.parameter("weight", [64, experts])
        parameters.append(weight)
        chosen = tape.op("matmul", x, weight, line=234, shape=[64, experts])
    chosen = tape.op("softmax", chosen, line=53, shape=[64, experts], attributes="-1")
    total = tape.op("zeros_like", x, line=54, grad_nodes=())
    for expert in range(experts):
        with tape.layer(f"experts.{expert}", "Expert", line=56):
            total = _expert(tape, x, chosen, total, parameters)
    return total


def _expert(tape: TapeWriter, x: int, chosen: int, total: int, parameters: list[int]) -> int:
    h = tape.op("index_select", x, line=62, attributes="0")
    halves = []
    for line, name in ((63, "gate"), (64, "up")):
        with tape.layer(name, "Linear", line=line, file="paddle/nn/layer/common.py"):
            weight = tape.parameter("weight", [64, 128])
            parameters.append(weight)
            halves.append(tape.op("matmul", h, weight, line=234, shape=[32, 128]))
    gate = tape.op("silu", halves[0], line=65, shape=[32, 128])
    h = tape.op("multiply", gate, halves[1], line=65, shape=[32, 128])
    h = _linear(tape, "down", h, line=66, parameters=parameters)
    h = tape.op("multiply", h, chosen, line=67)
    return tape.op("index_add", total, h, line=68, attributes="0")


class _Straight:
    """A file with one statement per line: no two ops share a call site, so nothing is folded."""

    def __init__(self) -> None:
        self.tape = TapeWriter("Cell 4")
        self._lines = ["def run(x, mask):"]
        self.input = self.tape.data([32, 64])
        self._scope = self.tape.function(_STRAIGHT, "run", line=1)
        self._scope.__enter__()

    def op(self, name: str, *inputs: int, is_trained: bool = True) -> int:
        self._lines.append(f"    x = paddle.{name}(x)")
        grad_nodes = None if is_trained else ()
        return self.tape.op(name, *inputs, line=len(self._lines), grad_nodes=grad_nodes)

    def finished(self, loss: int = -1) -> TapeWriter:
        self._scope.__exit__(None, None, None)
        self.tape.source("cell", ["y = run(x, mask)", "y.backward()"])
        self.tape.source(_STRAIGHT, self._lines)
        if loss >= 0:
            self.tape.backward(loss, line=2)
        return self.tape


def chain(count: int, *, is_trained: bool = False) -> TapeWriter:
    """Return a chain of ``count`` ops; with ``is_trained``, also as many grad nodes."""
    straight = _Straight()
    x = straight.input
    for op in range(count):
        x = straight.op(("tanh", "scale")[op % 2], x, is_trained=is_trained)
    return straight.finished(x if is_trained else -1)


def residual(count: int) -> TapeWriter:
    """Return ``count`` ops of blocks (tanh, scale, add of the block's input), with backward."""
    straight = _Straight()
    x = straight.input
    for _ in range(count // 3):
        h = straight.op("tanh", x)
        h = straight.op("scale", h)
        x = straight.op("add", x, h)
    return straight.finished(x)


def attention(count: int) -> TapeWriter:
    """Return ``count`` ops of attention blocks that all take one mask, with backward."""
    straight = _Straight()
    x = straight.op("tanh", straight.input)
    mask = straight.op("triu", straight.tape.data([32, 32]), is_trained=False)
    for _ in range(count // 8):
        query, key, value = (straight.op(name, x) for name in ("tanh", "sin", "cos"))
        scores = straight.op("matmul", query, key)
        scores = straight.op("add", scores, mask)
        weights = straight.op("softmax", scores)
        mixed = straight.op("matmul", weights, value)
        x = straight.op("add", x, mixed)
    return straight.finished(x)


def hub(count: int) -> TapeWriter:
    """Return one op with ``count`` consumers, whose results one op adds up; with backward."""
    straight = _Straight()
    x = straight.op("tanh", straight.input)
    made = [straight.op("scale", x) for _ in range(count)]
    return straight.finished(straight.op("add_n", *made))


def hub_chain(count: int) -> TapeWriter:
    """Return a chain of ``count`` ops that all read the first op's tensor too; with backward."""
    straight = _Straight()
    x = first = straight.op("tanh", straight.input)
    for _ in range(count):
        x = straight.op("add", x, first)
    return straight.finished(x)


def nested(depth: int) -> TapeWriter:
    """Return ``depth`` nested regions with two ops each, and backward."""
    straight = _Straight()
    x, open_scopes = straight.input, []
    for _ in range(depth):
        scope = straight.tape.scope("region", "deeper")
        scope.__enter__()
        open_scopes.append(scope)
        x = straight.op("tanh", x)
    for scope in reversed(open_scopes):
        x = straight.op("scale", x)
        scope.__exit__(None, None, None)
    return straight.finished(x)


SHAPES: dict[str, Callable[[int], TapeWriter]] = {
    "chain": chain,
    "residual": residual,
    "attention": attention,
    "hub": hub,
    "hub-chain": hub_chain,
    "nested": nested,
}
"""Each family's name, and the function that makes a tape of a given size."""
