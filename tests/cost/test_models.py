"""Operations and parameters of whole models, compared with Paddle's and published counts.

``paddle.flops`` counts a multiply-add as 1, and only in layers that it knows: it omits functions,
activations, attention's products and recurrent networks. So the tests compare layers by kind.
It is right about convolutions (with a bias as one more operation for each output), linear layers
and batch normalisations, and wrong about two kinds, which the tests omit. A transposed
convolution does ``input elements * outputs / groups * kernel`` multiply-adds; it counts
``output elements * inputs / groups * kernel``. For an average it counts only the division.
"""

from __future__ import annotations

import contextlib
import io

import numpy as np
import paddle
import pytest
from paddle import nn
from paddle.vision import models as vision

import paddle_lab
from paddle_lab.analysis.cost import grad_node_costs, op_costs, parameters
from paddle_lab.trace.record import Record
from tests.cost.models import BERT, MODELS, Transformer, ViT, trainable

CONVOLUTIONS = [nn.Conv1D, nn.Conv2D, nn.Conv3D]
KINDS = {"convolutions": CONVOLUTIONS, "linear": [nn.Linear], "norms": [nn.BatchNorm2D]}


@pytest.mark.parametrize("name", MODELS)
def test_operations_and_parameters_are_those_that_paddle_counts(name: str) -> None:
    build, shape = MODELS[name]
    network, x = build(), paddle.randn(shape)
    network.eval()
    theirs = {kind: _their_flops(network, shape, layers) for kind, layers in KINDS.items()}
    with contextlib.redirect_stdout(io.StringIO()):
        summary = paddle.summary(network, input=x)
    network.eval()
    with paddle_lab.trace(check="none") as trace:
        network(x)
    record = trace.record
    costs = op_costs(record)
    assert (costs["flops"] >= 0).all()

    macs, flops = costs["macs"], costs["flops"]
    inside = {kind: _ops_in(record, layers) for kind, layers in KINDS.items()}
    is_bias = np.isin(_names(record), ["add"]) & inside["convolutions"]
    ours = {
        "convolutions": int(macs[inside["convolutions"]].sum() + flops[is_bias].sum()),
        "linear": int(macs[inside["linear"]].sum()),
        "norms": int(flops[inside["norms"]].sum()),
    }
    assert ours == theirs

    count, size = parameters(record).among(range(len(record.ops)))
    assert (count, size) == (trainable(network), 4 * trainable(network))
    own = sum(int(one.size) for one in network._parameters.values())
    assert count == summary["trainable_params"] + own  # it leaves out those of the model itself


@pytest.mark.parametrize(
    ("network", "cell"),
    [
        (nn.LSTM(8, 16), nn.LSTMCell),
        (nn.GRU(8, 16), nn.GRUCell),
        (nn.SimpleRNN(8, 16), nn.SimpleRNNCell),
    ],
)
def test_a_recurrent_kernel_costs_what_its_cells_cost(network: nn.Layer, cell: type) -> None:
    x = paddle.randn([2, 6, 8])
    with paddle_lab.trace(check="none") as whole:
        network(x)
    with paddle_lab.trace(check="none") as parts:
        nn.RNN(cell(8, 16))(x)
    for column in ("flops", "macs"):
        whole_cost, parts_cost = (
            int(op_costs(trace.record)[column].sum()) for trace in (whole, parts)
        )
        assert whole_cost == parts_cost


def test_backward_costs_twice_the_forward_without_the_first_gradient() -> None:
    network, x = vision.resnet18(), paddle.randn([1, 3, 64, 64])
    with paddle_lab.trace(check="none") as trace:
        network(x).sum().backward()
    forward, backward = op_costs(trace.record), grad_node_costs(trace.record)
    assert (forward["flops"] >= 0).all()
    assert (backward["flops"] >= 0).all()
    macs = forward["macs"]
    assert int(backward["macs"].sum()) == 2 * int(macs.sum()) - int(macs[macs > 0][0])


def test_resnet_50_is_as_published() -> None:
    # torchvision's table: 4.09 "GFLOPS" at 224 x 224, a multiply-add as 1; 25,557,032 parameters.
    macs, _, count = _published(vision.resnet50(), paddle.randn([1, 3, 224, 224]))
    assert macs == pytest.approx(4.09e9, rel=0.01)
    assert count == 25_557_032


def test_vit_b_16_is_as_published() -> None:
    # torchvision's table: 17.56 "GFLOPS", a multiply-add as 1, attention included; 86,567,656.
    network = ViT(size=224, patch=16, width=768, heads=12, depth=12)
    macs, _, count = _published(network, paddle.randn([1, 3, 224, 224]))
    assert macs == pytest.approx(17.56e9, rel=0.01)
    assert count == 86_567_656


def test_bert_base_is_as_published() -> None:
    # Sun et al., "MobileBERT" (2020): 22.5 B FLOPS for 128 tokens, a multiply-add as 2. The
    # parameters are those of ``bert-base-uncased``: 109,482,240.
    network = BERT(width=768, heads=12, depth=12, words=30522, length=512)
    macs, flops, count = _published(network, paddle.zeros([1, 128], "int64"))
    assert 2 * macs == pytest.approx(22.5e9, rel=0.01)
    assert flops == pytest.approx(22.5e9, rel=0.01)
    # Only rows of the table are read, but the whole table is a parameter.
    assert count == 109_482_240


def test_gpt_2_is_as_published() -> None:
    # nanoGPT's transformer_sizing.ipynb: 291,648,307,200 FLOPs for 1,024 tokens, a multiply-add as
    # 2, products of matrices alone, a causal mask counted in full. 124,439,808 parameters.
    network = Transformer(width=768, heads=12, depth=12, words=50257, length=1024, causal=True)
    # Each multiply-add belongs to a token or to a pair of tokens, so two short texts are enough.
    (of_8, _, count), (of_16, _, _) = (
        _published(network, paddle.zeros([1, tokens], "int64")) for tokens in (8, 16)
    )
    pair = (of_16 - 2 * of_8) // (16**2 - 2 * 8**2)
    token = of_8 // 8 - 8 * pair
    assert (of_8, of_16) == (8 * token + 8**2 * pair, 16 * token + 16**2 * pair)
    assert 2 * (1024 * token + 1024**2 * pair) == 291_648_307_200
    assert count == 124_439_808


def _published(network: nn.Layer, x: paddle.Tensor) -> tuple[int, int, int]:
    """Return the multiply-adds, all operations and the parameters of a model."""
    network.eval()
    with paddle.no_grad(), paddle_lab.trace(check="none") as trace:
        network(x)
    costs = op_costs(trace.record)
    assert (costs["flops"] >= 0).all()
    totals = (int(costs[column].sum()) for column in ("macs", "flops"))
    return *totals, parameters(trace.record).among(range(len(trace.ops)))[0]


def _their_flops(network: nn.Layer, shape: list[int], layers: list[type]) -> int:
    """Return what ``paddle.flops`` counts for some kinds of layers."""

    def nothing(layer: nn.Layer, inputs: object, output: object) -> None:
        layer.total_ops += 0

    kinds = {type(layer) for layer in network.sublayers()} - set(layers)
    with contextlib.redirect_stdout(io.StringIO()):
        return paddle.flops(network, shape, custom_ops=dict.fromkeys(kinds, nothing))


def _ops_in(record: Record, layers: list[type]) -> np.ndarray:
    """Return which ops ran in a layer of some kinds, and in none inside of it."""
    kinds = [record.text(code) for code in record.layers["class"]]
    names = {layer.__name__ for layer in layers}
    is_kind = np.array([*(kind.rpartition(".")[2] in names for kind in kinds), False])
    layer = np.append(record.scopes["layer"], np.int32(-1))[record.ops["scope"]]
    return is_kind[layer]


def _names(record: Record) -> list[str]:
    return [record.text(code) for code in record.ops["name"]]
