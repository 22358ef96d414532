"""What every test of the capture is held to: it leaves Paddle as it was."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.oracles import Bindings


@pytest.fixture(autouse=True)
def _nothing_stays_replaced() -> Iterator[None]:
    bindings = Bindings()
    yield
    assert bindings.changed() == []
