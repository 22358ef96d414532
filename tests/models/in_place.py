"""Code that modifies tensors in place: indices written, ``add_``, ``relu_``, views of views."""

from __future__ import annotations

import paddle
from paddle import Tensor, nn
from paddle.nn import functional as F

from tests.models.step import Build, Step, seed, training_step


def in_place() -> Step:
    """Every common way to write into a tensor, with gradients flowing through most of them."""
    seed()
    network = nn.Sequential(nn.Linear(6, 6), nn.ReLU6(), nn.Linear(6, 6))
    data = paddle.randn([4, 6])
    buffer = paddle.zeros([4, 6])
    mask = paddle.to_tensor([True, False, True, False])

    def forward() -> Tensor:
        hidden = network[0](data) * 1.0
        hidden[0] = 0.5
        hidden[1, 2:4] = data[1, :2]
        hidden[:, -1] = hidden[:, 0] * 2
        hidden[mask] = 0.0
        hidden[paddle.to_tensor([2, 3])] = data[:2]
        hidden.add_(data).multiply_(data)
        hidden = F.relu_(hidden) * 1.0  # what relu_ saved for its gradient must not change
        hidden = hidden.reshape_([2, 12]).scale_(0.5).unsqueeze_(0).squeeze_(0).reshape([4, 6])
        hidden += data
        hidden -= 1
        hidden *= 2
        hidden /= 3
        with paddle.no_grad():
            buffer.fill_(0.0)
            buffer[:] = data
            buffer.copy_(data * 2, True)
            buffer.set_value(data)
            buffer.zero_()
        view = network[2](hidden).T[1:3]
        return (view.clone() + buffer.sum()).tanh_().mean()

    return training_step(network, forward)


MODELS: dict[str, Build] = {"in_place": in_place}
