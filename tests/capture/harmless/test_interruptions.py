"""Traces that end with an exception: the user sees their own error, and Paddle is restored."""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType

import paddle
import pytest
from paddle import nn

import paddle_lab
from paddle_lab.capture.hooks import hooks
from tests.oracles import Bindings

CAPTURE = str(Path(paddle_lab.__file__).parent / "capture")


INSTALLING = {"hooks.py", "patches.py", "session.py", "sinks.py"}
# The code that runs after all hooks are removed. An interrupt there loses only the record.
AFTERWARDS = {"assembly.py", "frames.py"}


pytestmark = pytest.mark.usefixtures("interrupts_raise")


class Failure(Exception):
    """Raised by the traced code."""


class Failing(nn.Layer):
    def forward(self, x):
        x = x.tanh()
        raise Failure
        return x


def leaf(*shape: int) -> paddle.Tensor:
    tensor = paddle.rand(list(shape))
    tensor.stop_gradient = False
    return tensor


def test_an_exception_of_the_traced_code_comes_through_and_the_trace_is_kept():
    failure = Failure("mine")
    x = leaf(2, 2)
    with pytest.raises(Failure) as caught, paddle_lab.trace() as trace:  # noqa: PT012 (the error leaves the trace)
        x.tanh()
        raise failure

    assert caught.value is failure
    assert [op.name for op in trace.ops] == ["tanh"]


def test_an_op_that_raises_raises_paddles_error():
    x = leaf(2, 3)
    with pytest.raises(ValueError, match="InvalidArgument") as plain:
        x @ x
    with pytest.raises(ValueError, match="InvalidArgument") as traced, paddle_lab.trace() as trace:  # noqa: PT012 (the error leaves the trace)
        x.tanh()
        x @ x

    assert str(traced.value) == str(plain.value)
    assert [(op.name, op.raised) for op in trace.ops] == [("tanh", False), ("matmul", True)]


def test_an_interrupt_inside_of_ours_is_told_at_the_users_line(monkeypatch: pytest.MonkeyPatch):
    def interrupted(_recorder: object, _attributes: object) -> int:
        signal.raise_signal(signal.SIGINT)
        return 0

    monkeypatch.setattr("paddle_lab.capture.recorder.recorder.Recorder.attributes_key", interrupted)
    x = leaf(2, 2)
    with pytest.raises(KeyboardInterrupt) as caught, paddle_lab.trace():
        x.sum(axis=0)
    names = [entry.name for entry in caught.traceback]
    assert "interrupted" not in names
    assert not [entry for entry in caught.traceback if str(entry.path).startswith(CAPTURE)]


def test_a_layer_that_raises_leaves_the_layers_around_it():
    layer, x = nn.Sequential(nn.Linear(2, 2), Failing()), leaf(2, 2)
    with paddle_lab.trace() as trace:
        with pytest.raises(Failure):
            layer(x)
        x.exp()

    linear, tanh, exp = trace.ops
    assert (linear.layer_class, tanh.layer_class, exp.layer) == ("Linear", "Failing", "")


def test_a_backward_pass_that_raises_keeps_its_graph():
    x = leaf(3)
    with paddle_lab.trace() as trace:
        y = x.exp()
        z = y.sin()
        y.add_(paddle.ones([3]))
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.sum().backward()
        after = x.cos()

    assert after.shape == [3]
    names = [name for _, name in trace.graph("backward", call=0).nodes(data="name")]
    assert "SinGradNode" in names
    assert [op.phase for op in trace.ops][-1] == "forward"


def test_a_hook_that_raises_inside_backward_raises_paddles_error():
    def run_backward():
        def hook(gradient):
            gradient * 2
            raise Failure

        y = leaf(3).exp()
        y.register_hook(hook)
        y.sum().backward()

    with pytest.raises(OSError, match="External") as plain:
        run_backward()
    with pytest.raises(OSError, match="External") as traced, paddle_lab.trace() as trace:
        run_backward()

    assert type(traced.value) is type(plain.value)
    assert [op.name for op in trace.ops] == ["uniform", "exp", "sum", "multiply"]


@pytest.mark.parametrize("delay_ms", [0, 1, 2, 5, 10, 20, 50])
def test_an_interrupt_in_the_middle_comes_through_and_the_trace_is_kept(delay_ms):
    layer, x = nn.Sequential(nn.Linear(8, 8), nn.ReLU()), leaf(4, 8)
    is_running = threading.Event()

    def interrupt():
        is_running.wait()
        time.sleep(delay_ms / 1e3)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt), paddle_lab.trace() as trace:  # noqa: PT012 (the error leaves the trace)
        layer(x).sum().backward()
        is_running.set()
        while True:
            layer(x).sum().backward()
    thread.join()

    assert [op.name for op in trace.ops][:3] == ["linear", "relu", "sum"]
    assert trace.graph("backward").number_of_nodes() >= 5


def test_an_interrupt_in_the_captures_code_puts_everything_back(monkeypatch: pytest.MonkeyPatch):
    """Ctrl+C at every line that puts hooks in place, and at every ninth of all others."""
    # Python also tells the line of a ``with`` when the block ends. An error of the trace function
    # then leaves the lock held, which no signal does. Tests in other threads would wait for it.
    monkeypatch.setattr(hooks, "_LOCK", threading.RLock())
    x = leaf(2, 2)

    def traced_step():
        with paddle_lab.trace():
            (x @ x).sum().backward()

    traced_step()  # imports and caches are made
    lines = LinesOfCapture()
    lines.watch(traced_step)
    bindings = Bindings()
    not_put_back, other_ends = {}, {}
    for at, (line, runs) in enumerate(lines.runs.items()):
        if line[0] not in INSTALLING and at % 9:
            continue
        for run in {1, runs} if line[0] in INSTALLING else {runs}:
            interrupted = LinesOfCapture(line, run)
            end = interrupted.watch(traced_step)
            if interrupted.runs[line] >= run and not isinstance(end, KeyboardInterrupt):
                other_ends[line, run] = repr(end)
            if line[0] in INSTALLING and (changed := bindings.changed()):
                not_put_back[line, run] = changed[:3]
                traced_step()  # a later trace puts back what this one could not
                bindings = Bindings()
    assert len(lines.runs) > 300
    assert not_put_back == {}
    assert other_ends == {}


class LinesOfCapture:
    """Counts the lines that the capture runs, and presses Ctrl+C at one of them."""

    def __init__(self, line: tuple[str, int] | None = None, run: int = 0) -> None:
        self.runs: Counter[tuple[str, int]] = Counter()
        self._line = line
        self._run = run

    def watch(self, function: Callable[[], None]) -> BaseException | None:
        """Run ``function``; return what it raised."""
        sys.settrace(self._trace)
        try:
            function()
        except BaseException as error:  # noqa: BLE001
            return error
        finally:
            sys.settrace(None)
        return None

    @functools.cache  # noqa: B019 (a handful of short-lived objects)
    def _may_run(self, code: CodeType) -> bool:
        """Tell whether ``code`` holds the wanted line, to leave all other code fast."""
        path = Path(code.co_filename)
        if not code.co_filename.startswith(CAPTURE) or path.name in AFTERWARDS:
            return False
        lines = {line for *_, line in code.co_lines()}
        return self._line is None or (path.name == self._line[0] and self._line[1] in lines)

    def _trace(self, frame, event, _argument):
        if not self._may_run(frame.f_code):
            return None
        if event == "line":
            line = Path(frame.f_code.co_filename).name, frame.f_lineno
            self.runs[line] += 1
            if line == self._line and self.runs[line] == self._run:
                signal.raise_signal(signal.SIGINT)
        return self._trace


def test_the_next_trace_is_whole_after_one_that_was_interrupted():
    x = leaf(2, 2)
    with pytest.raises(KeyboardInterrupt), paddle_lab.trace():
        raise KeyboardInterrupt
    with paddle_lab.trace() as trace:
        x.tanh().sum().backward()

    assert [op.name for op in trace.ops] == ["tanh", "sum"]
