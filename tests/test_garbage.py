"""The collector is paused for a block and is afterwards as it was, also after an error."""

from __future__ import annotations

import gc

import pytest

from paddle_lab.garbage import collection_paused


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_put_back(*, enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()
    try:
        with pytest.raises(ZeroDivisionError), collection_paused():
            _ = 1 / gc.isenabled()
        assert gc.isenabled() is enabled
    finally:
        gc.enable()
