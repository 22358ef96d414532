"""Fixtures that apply to every rerun."""

from __future__ import annotations

import pytest

from tests.oracles import Bindings


@pytest.fixture(autouse=True)
def _nothing_is_left_bound():
    bindings = Bindings()
    yield
    assert bindings.changed() == []
