"""The garbage collector is paused for a block and restored afterwards, also after an error."""

from __future__ import annotations

import gc
import sys
import threading

import pytest

from paddle_lab.garbage import collection_paused, thread_frames


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_put_back(*, enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()
    try:
        with pytest.raises(ZeroDivisionError), collection_paused():
            _ = 1 / gc.isenabled()
        assert gc.isenabled() is enabled
    finally:
        gc.enable()


def test_frames_of_threads_are_those_that_python_tells() -> None:
    own = threading.get_ident()
    assert thread_frames()[own].f_back is sys._getframe()
    assert thread_frames().keys() == sys._current_frames().keys()
    assert gc.isenabled()
