"""Checks after each test of the capture that Paddle is unchanged."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest

import paddle_lab
from tests.oracles import Bindings


@pytest.fixture(autouse=True, scope="session")
def _what_happens_once_has_happened() -> None:
    """Let PaddleFormers replace what it replaces in Paddle, and a trace try what it tries once."""
    if importlib.util.find_spec("paddleformers") is not None:
        from paddleformers import transformers

        assert transformers.LlamaForCausalLM
    with paddle_lab.trace():
        pass


@pytest.fixture(autouse=True)
def _nothing_stays_replaced() -> Iterator[None]:
    bindings = Bindings()
    yield
    assert bindings.changed() == []
