"""Recomputed activations: the forward pass of a block runs again inside the backward pass."""

from __future__ import annotations

import paddle
from paddle import Tensor, nn
from paddle.distributed.fleet.utils import recompute

from tests.models.step import Build, Step, seed, training_step


def recomputed(*, reentrant: bool) -> Build:
    """Return a build of a step over four blocks, of which two are recomputed."""

    def build() -> Step:
        seed()
        network = nn.LayerList(
            [nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.1), nn.Softplus()) for _ in range(4)]
        )
        data = paddle.randn([4, 8])

        def forward() -> Tensor:
            hidden = data
            for position, block in enumerate(network):
                hidden = (
                    recompute(block, hidden, use_reentrant=reentrant)
                    if position % 2
                    else block(hidden)
                )
            return hidden.mean()

        return training_step(network, forward)

    return build


MODELS: dict[str, Build] = {
    "recompute_reentrant": recomputed(reentrant=True),
    "recompute_saved_hooks": recomputed(reentrant=False),
}
