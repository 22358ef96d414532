"""Recurrent networks: the fused layers, and cells wrapped by ``nn.RNN`` and ``nn.BiRNN``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import paddle
from paddle import Tensor, nn

from tests.models.step import Build, Step, seed, training_step

if TYPE_CHECKING:
    from collections.abc import Callable

FEATURES, HIDDEN, FRAMES = 8, 16, 7


def sequence_model(make: Callable[[], nn.Layer]) -> Build:
    """Return a build of a step that sums up the last outputs of a recurrent network."""

    def build() -> Step:
        seed()
        network = make()
        frames = paddle.randn([2, FRAMES, FEATURES])

        def forward() -> Tensor:
            outputs, _state = network(frames)
            return outputs[:, -1].tanh().square().mean()

        return training_step(
            network, forward, optimizer=paddle.optimizer.Adam(parameters=network.parameters())
        )

    return build


MODELS: dict[str, Build] = {
    "lstm": sequence_model(lambda: nn.LSTM(FEATURES, HIDDEN, num_layers=2, dropout=0.1)),
    "gru_bidirectional": sequence_model(lambda: nn.GRU(FEATURES, HIDDEN, direction="bidirect")),
    "simple_rnn": sequence_model(lambda: nn.SimpleRNN(FEATURES, HIDDEN)),
    "lstm_cell": sequence_model(lambda: nn.RNN(nn.LSTMCell(FEATURES, HIDDEN))),
    "gru_cells_bidirectional": sequence_model(
        lambda: nn.BiRNN(nn.GRUCell(FEATURES, HIDDEN), nn.GRUCell(FEATURES, HIDDEN))
    ),
}
