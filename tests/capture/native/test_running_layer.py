"""The running layer, found from the main thread's frames."""

from __future__ import annotations

import contextlib
import gc
import subprocess
import sys
import threading
import weakref

import paddle
import pytest
from paddle import nn

import paddle_lab
from paddle_lab.capture import running_layer as module
from tests.capture.native.twins import on_both_twins

BEFORE_IMPORT = """
import sys
from paddle_lab.capture.running_layer import running_layer
assert running_layer() == ""
assert "paddle" not in sys.modules
import paddle
class Watch(paddle.nn.Layer):
    def forward(self):
        return running_layer()
assert Watch()() == "Watch"
"""


class Watch(nn.Layer):
    """Notes the running layer, for which it asks from another thread."""

    def __init__(self, running_layer):
        super().__init__()
        self.running_layer = running_layer
        self.seen = []

    def forward(self, data):
        asked = threading.Thread(target=lambda: self.seen.append(self.running_layer()))
        asked.start()
        asked.join()
        return data


@pytest.fixture
def running_layer():
    return module.running_layer


def traced(is_traced):
    return paddle_lab.trace() if is_traced else contextlib.nullcontext()


@pytest.mark.parametrize("is_traced", [False, True])
def test_a_layer_has_the_path_that_named_sublayers_tells(running_layer, is_traced):
    watch = Watch(running_layer)
    network = nn.Sequential(nn.Linear(2, 2), nn.LayerList([nn.ReLU(), nn.Sequential(watch)])[1])
    data = paddle.ones([1, 2])

    with traced(is_traced):
        network(data)
        watch(data)
        outside = running_layer()

    (path,) = [path for path, layer in network.named_sublayers() if layer is watch]
    assert (path, watch.seen, outside) == ("1.0", ["1.0", "Watch"], "")


def test_a_layer_with_hooks_is_found(running_layer):
    watch = Watch(running_layer)
    watch.register_forward_pre_hook(lambda *_: None)
    network = nn.Sequential(watch)
    network(paddle.ones([1]))

    assert watch.seen == ["0"]


def test_a_layer_that_is_added_later_is_found(running_layer):
    first, second = Watch(running_layer), Watch(running_layer)
    network = nn.Sequential(first)
    network(paddle.ones([1]))
    network.add_sublayer("head", second)
    network(paddle.ones([1]))

    assert (first.seen, second.seen) == (["0"] * 2, ["head"])


def test_asking_keeps_nothing_alive(running_layer):
    watch = Watch(running_layer)
    network = nn.Sequential(watch, nn.Linear(1, 1))
    data = paddle.ones([1, 1])
    alive = weakref.ref(data)
    layer = weakref.ref(network)

    network(data)
    del data, network
    assert alive() is None
    assert layer() is None


@on_both_twins
def test_another_thread_has_the_frame_that_sys_says(parts):
    waiting, done = threading.Event(), threading.Event()

    def wait():
        waiting.set()
        done.wait()

    thread = threading.Thread(target=wait)
    thread.start()
    waiting.wait()
    frame = parts.thread_frame(thread.ident)
    assert frame is sys._current_frames()[thread.ident]
    done.set()
    thread.join()

    assert parts.thread_frame(thread.ident) is None
    assert gc.isenabled()


def test_paddle_is_never_imported_by_a_question():
    subprocess.run([sys.executable, "-W", "ignore", "-c", BEFORE_IMPORT], check=True)
