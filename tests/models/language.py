"""PaddleFormers' language models from small configurations, with random weights."""

from __future__ import annotations

import paddle
import pytest
from paddle import Tensor

from tests.models.step import Build, Step, seed, training_step

VOCABULARY = 64
SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "fuse_rms_norm": False,  # the fused kernel exists on GPUs only
}


def causal_model(config_class: str, model_class: str) -> Build:
    """Return a build of a step of next-token prediction."""

    def build() -> Step:
        transformers = pytest.importorskip("paddleformers.transformers")
        seed()
        network = getattr(transformers, model_class)(getattr(transformers, config_class)(**SIZES))
        tokens = paddle.randint(1, VOCABULARY, [2, 8])
        labels = paddle.roll(tokens, -1, axis=1)  # PaddleFormers does not shift them

        def forward() -> Tensor:
            output = network(tokens, labels=labels)
            return output[0] if isinstance(output, tuple) else output.loss

        return training_step(network, forward)

    return build


MODELS: dict[str, Build] = {
    "llama": causal_model("LlamaConfig", "LlamaForCausalLM"),
    "ernie4_5": causal_model("Ernie4_5Config", "Ernie4_5ForCausalLM"),
    "phi3": causal_model("Phi3Config", "Phi3ForCausalLM"),
    "gemma3": causal_model("Gemma3TextConfig", "Gemma3ForCausalLM"),
}
