"""Paddle's own log of the eager ops it runs, captured from file descriptor 2.

At verbosity 3 Paddle writes ``Running_AD_API: NAME`` when an eager op starts, ``Finish_C++_API:
NAMEn`` when its kernel is done and, for most ops, ``Finish_AD_API: NAME``; around a backward pass
``RunBackward: Start Backward``, then ``NameGradNode(0xADDRESS) Preparing`` for each grad node.
``paddle.utils.capture_forward_subgraph_guard`` draws its graph from the same messages.

An op's start does not say who called it. Two kinds have no Python call of their own: ops inside
other ops (type promotion runs ``cast``), and ops of the backward pass itself (with
``create_graph=True`` the sum of two gradients is an ``add``). The first are identified by nesting.
For the second, a profile function marks in the log where the backward pass enters Python: hooks,
``PyLayer.backward``, recomputation. It also notes calls that Paddle does not log: those of
``_legacy_C_ops``, and of ``run_program``, which runs a ``to_static`` function.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
import tempfile
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import BuiltinFunctionType, FrameType
from typing import TYPE_CHECKING, Any

from paddle.base import core, dygraph_utils
from paddle.base.framework import vlog_guard

from tests.oracles.log_nesting import LoggedOp, Nesting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Everything that runs inside a PyLayer is indented by a tab.
_HEADER = re.compile(r"^\t*[IWEF]\d{4} [\d:.]+ +(?P<thread>\d+) [^\]\n]+\] ?", re.MULTILINE)
_MARK = "tests.oracles"
_BACKWARD_FUNCTIONS = (core.eager.run_backward, core.eager.run_partial_grad)
# Python's profiler sees a C function that Python calls, not one that C calls, as a native wrapper
# does. This is where Paddle's layers call ops of _legacy_C_ops.
_ACTIVATION = inspect.unwrap(dygraph_utils._append_activation_in_dygraph)
_SILENT_FUNCTIONS = {
    function
    for function in (*vars(core.eager.ops.legacy).values(), core.eager.ops.run_program)
    if isinstance(function, BuiltinFunctionType)
}


@dataclass
class ApiLog:
    """What Paddle logged while the guarded code ran, filled when the guard ends.

    Only messages of the thread that opened the guard are read.
    """

    ops: list[LoggedOp] = field(default_factory=list)
    executed_grad_nodes: list[tuple[int, str]] = field(default_factory=list)
    """Address and name of each grad node, in the order in which they ran."""
    unfinished: list[str] = field(default_factory=list)
    """Ops that started and were never seen to end: they raised."""

    @property
    def python_ops(self) -> list[LoggedOp]:
        """The ops that Python asked for, in order."""
        return [op for op in self.ops if op.by_python]

    @property
    def hidden_ops(self) -> list[LoggedOp]:
        """The ops that ran inside other ops or inside the backward pass."""
        return [op for op in self.ops if not op.by_python]


@contextmanager
def api_log(*, verbosity: int = 3) -> Iterator[ApiLog]:
    """Log what Paddle runs inside the guard; also if it raises."""
    log = ApiLog()
    thread = threading.get_native_id()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as file:
        standard_error = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            with vlog_guard(verbosity), _profiled(_Marks(thread)):
                yield log
        finally:
            sys.stderr.flush()
            os.dup2(standard_error, 2)
            os.close(standard_error)
            file.seek(0)
            _read(file.read().decode(errors="replace"), thread, log)


def paddle_api_log(function: Callable[[], Any]) -> ApiLog:
    """Run ``function`` and return what Paddle logged."""
    with api_log() as log:
        function()
    return log


class _Marks:
    """A profile function that writes into the log what Paddle does not."""

    def __init__(self, thread: int) -> None:
        self._thread = thread
        self._callers: list[FrameType] = []
        self._entered: list[FrameType] = []
        self._unseen_activation = ""

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            if frame.f_code is _ACTIVATION.__code__:
                self._unseen_activation = frame.f_locals["act"] or ""
            if self._callers and frame.f_back is self._callers[-1]:
                self._entered.append(frame)
                self._write("enter")
        elif event == "return":
            if frame.f_code is _ACTIVATION.__code__ and self._unseen_activation:
                self._write(f"op {self._unseen_activation}")
            if self._entered and self._entered[-1] is frame:
                self._entered.pop()
                self._write("leave")
        elif any(argument is function for function in _BACKWARD_FUNCTIONS):
            self._mark_backward(frame, event)
        elif event == "c_call" and argument in _SILENT_FUNCTIONS:
            self._unseen_activation = ""
            self._write(f"op {argument.__name__}")

    def _mark_backward(self, frame: FrameType, event: str) -> None:
        if event == "c_call":
            self._callers.append(frame)
        elif self._callers:
            self._callers.pop()
            if event == "c_exception":
                self._write("raised")

    def _write(self, words: str) -> None:
        os.write(2, f"I0101 00:00:00.0 {self._thread} {_MARK}] {words}\n".encode())


@contextmanager
def _profiled(function: Callable[[FrameType, str, Any], None]) -> Iterator[None]:
    previous = sys.getprofile()
    sys.setprofile(function)
    try:
        yield
    finally:
        sys.setprofile(previous)


_STARTED = re.compile(r"=Running_AD_API: (\w+)=")
_FINISHED = re.compile(r"=Finish_AD_API: (\w+)=")
# conv2d misspells it.
_KERNEL_FINISHED = re.compile(r"=(?:Finish|Finshi)_C\+\+_API: (\w+)=")
_DEBUG_INFO = re.compile(r"Forward Debug Info \{\s+API_Name: (\w+)")
_SHAPE = re.compile(r"Shape: ([\d, ]*),\s")
_GRAD_NODE = re.compile(r"^(\w+)\((0x[0-9a-f]+)\) Preparing")


def _read(text: str, thread: int, log: ApiLog) -> None:
    nesting = Nesting()
    headers = list(_HEADER.finditer(text))
    ends = [header.start() for header in headers[1:]] + [len(text)]
    for header, end in zip(headers, ends, strict=True):
        if int(header["thread"]) != thread:
            continue
        message = text[header.end() : end].strip()
        if header[0].rstrip().endswith(f"{_MARK}]"):
            _read_mark(message, nesting)
        elif found := _STARTED.search(message):
            nesting.start_op(found[1])
        elif found := _KERNEL_FINISHED.search(message):
            nesting.finish_kernel(found[1])
        elif found := _FINISHED.search(message):
            nesting.finish_op(found[1])
        elif found := _DEBUG_INFO.match(message):
            nesting.note_outputs(found[1], _output_shapes(message))
        elif found := _GRAD_NODE.match(message):
            nesting.start_grad_node()
            log.executed_grad_nodes.append((int(found[2], 16), found[1]))
        else:
            _read_backward(message, nesting)
    log.ops = nesting.ops
    log.unfinished = nesting.unfinished()


def _output_shapes(debug_info: str) -> list[list[int]]:
    shapes = _SHAPE.findall(debug_info.partition("Output:")[2])
    return [[int(size) for size in shape.split(",") if size.strip()] for shape in shapes]


def _read_backward(message: str, nesting: Nesting) -> None:
    if "RunBackward: Start Backward" in message:
        nesting.start_backward()
    elif "RunBackward: Finish Backward" in message:
        nesting.finish_backward()


def _read_mark(message: str, nesting: Nesting) -> None:
    word, _, name = message.partition(" ")
    if word == "op":
        nesting.add_silent_op(name)
    elif word == "enter":
        nesting.enter_python()
    elif word == "leave":
        nesting.leave_python()
    else:
        nesting.finish_backward()
