"""What every test of the capture is held to: it leaves Paddle as it was."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest

from tests.oracles import Bindings


@pytest.fixture(autouse=True, scope="session")
def _libraries_have_patched_paddle() -> None:
    """Have PaddleFormers replace what it replaces in Paddle before anything is compared."""
    if importlib.util.find_spec("paddleformers") is not None:
        from paddleformers import transformers

        assert transformers.LlamaForCausalLM


@pytest.fixture(autouse=True)
def _nothing_stays_replaced() -> Iterator[None]:
    bindings = Bindings()
    yield
    assert bindings.changed() == []
