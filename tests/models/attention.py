"""Transformers of ``paddle.nn`` with masks and dropout."""

from __future__ import annotations

import paddle
from paddle import Tensor, nn

from tests.models.step import Build, Step, seed, training_step


def encoder() -> Step:
    """Four equal encoder layers over a sequence, a class per sequence."""
    seed()
    layer = nn.TransformerEncoderLayer(d_model=32, nhead=4, dim_feedforward=64, dropout=0.1)
    network = nn.Sequential(nn.TransformerEncoder(layer, num_layers=4), nn.LayerNorm(32))
    tokens = paddle.randn([2, 8, 32])

    def forward() -> Tensor:
        return network(tokens).pow(2).mean()

    optimizer = paddle.optimizer.AdamW(parameters=network.parameters())
    return training_step(network, forward, optimizer=optimizer)


def encoder_decoder() -> Step:
    """The whole ``nn.Transformer`` with a causal target mask."""
    seed()
    network = nn.Transformer(
        d_model=32, nhead=4, num_encoder_layers=2, num_decoder_layers=2, dim_feedforward=64
    )
    source, target = paddle.randn([2, 6, 32]), paddle.randn([2, 5, 32])
    mask = network.generate_square_subsequent_mask(5)

    def forward() -> Tensor:
        return (network(source, target, None, mask, None) - target).abs().mean()

    return training_step(network, forward)


def masked_attention() -> Step:
    """One ``MultiHeadAttention`` with a mask per query, used as self- and cross-attention."""
    seed()
    network = nn.MultiHeadAttention(embed_dim=32, num_heads=4, dropout=0.2)
    queries, memory = paddle.randn([2, 6, 32]), paddle.randn([2, 6, 32])
    mask = paddle.tril(paddle.ones([6, 6], dtype="bool")).unsqueeze([0, 1])

    def forward() -> Tensor:
        self_attended = network(queries, attn_mask=mask)
        return network(self_attended, memory, memory).logsumexp(-1).sum()

    return training_step(network, forward)


MODELS: dict[str, Build] = {
    "transformer_encoder": encoder,
    "transformer": encoder_decoder,
    "multi_head_attention": masked_attention,
}
