"""Paddle's errors get their advice, and other errors get none."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import paddle_lab
from paddle_lab import words as spoken
from paddle_lab.capture.recorder.faults import described
from paddle_lab.error_help.lookup import error_help, kinds_that_explain, known_errors
from tests.error_help.raised import IN_A_PROCESS_OF_THEIR_OWN, RAISED

# Texts that this machine cannot provoke: (row, error, where its words are from).
RECORDED = [
    (
        "dataloader-worker-exit",
        "RuntimeError: DataLoader worker (pid(s) 1234) exited unexpectedly",
        "paddle/io/dataloader/dataloader_iter.py",
    ),
    (
        "dataloader-worker-exit",
        "RuntimeError: DataLoader 2 workers exit unexpectedly, pids: 12, 13",
        "paddle/io/dataloader/dataloader_iter.py",
    ),
    (
        "dataloader-worker-exit",
        (
            "SystemError: (Fatal) DataLoader process (pid 77) exited unexpectedly with code 1. "
            "Error detailed are lost due to multiprocessing."
        ),
        "paddle/fluid/imperative/data_loader.cc",
    ),
    (
        "dataloader-shared-memory",
        (
            "SystemError: (Fatal) DataLoader process (pid 1) exited is killed by signal: Bus "
            "error.\n  It may be caused by insufficient shared storage space. This problem usually "
            "occurs when using docker as a development environment."
        ),
        "paddle/fluid/imperative/data_loader.cc",
    ),
    (
        "out-of-device-memory",
        "MemoryError: \n\nOut of memory error on GPU 0. Cannot allocate 2.000000GB memory on GPU 0",
        "paddle/phi/core/memory/allocation/cuda_allocator.cc",
    ),
    (
        "out-of-device-memory",
        "MemoryError: \n\nOut of memory error on npu:0. Cannot allocate 512.00kB memory on npu:0",
        "paddle/phi/core/memory/allocation/custom_allocator.cc",
    ),
    (
        "out-of-device-memory",
        "MemoryError: (ResourceExhausted) Cannot allocate 2.000000GB in npu:1, available 0.000000B",
        "paddle/phi/core/memory/allocation/naive_best_fit_allocator.cc",
    ),
    (
        "cuda-error",
        "OSError: (External) CUDA error(700), an illegal memory access was encountered.",
        "paddle/phi/core/enforce.cc",
    ),
    (
        "nccl",
        "OSError: (External) NCCL error(2), unhandled system error.",
        "paddle/phi/core/enforce.h",
    ),
    (
        "optimizer-state-missing",
        "AssertionError: Optimizer set error, batch_norm_1.w_0_moment_0 should in state dict",
        "paddle/optimizer/optimizer.py",
    ),
    (
        "tensor-not-initialized",
        (
            "ValueError: (InvalidArgument) The 0-th tensor in input vector<tensor> (X) is not "
            "initialized."
        ),
        "paddle/phi/api/lib/data_transform.cc",
    ),
    ("tensor-not-initialized", "RuntimeError: Tensor is not initialized", "static programs"),
    (
        "state-dict-key-missing",
        "UserWarning: Skip loading for bias. bias is not found in the provided dict.",
        "paddle/nn/layer/layers.py, where warnings are errors",
    ),
    (
        "trainer-exited",
        "SystemExit: ABORT!!! Out of all 4 trainers, the trainer process with rank=[1] was aborted",
        "paddle/distributed/utils/launch_utils.py",
    ),
]

# Errors that users' own code raises every day.
ORDINARY = [
    KeyError("x"),
    KeyError("Tensor"),
    ValueError("shape mismatch: value array of shape (3,) could not be broadcast"),
    ValueError("operands could not be broadcast together with shapes (2,3) (2,4)"),
    ValueError("setting an array element with a sequence. The requested array has an "
               "inhomogeneous shape after 1 dimensions."),
    ValueError("invalid literal for int() with base 10: 'cuda'"),
    ValueError("expected input of 3 columns"),
    ValueError("label should not be out of bounds"),
    IndexError("list index out of range"),
    IndexError("index 5 is out of bounds for axis 0 with size 3"),
    TypeError("unsupported operand type(s) for +: 'int' and 'str'"),
    TypeError("forward() missing 1 required positional argument: 'y'"),
    TypeError("Model.__init__() got an unexpected keyword argument 'lr'"),
    AttributeError("'NoneType' object has no attribute 'shape'"),
    AttributeError("'Trainer' object has no attribute 'backward'"),
    AttributeError("module 'numpy' has no attribute 'float'"),
    AttributeError("module 'paddleocr' has no attribute 'view'"),
    ModuleNotFoundError("No module named 'paddle_extras'"),
    FileNotFoundError(2, "No such file or directory", "model.pdparams"),
    MemoryError(),
    MemoryError("Unable to allocate 8.00 TiB for an array with shape (1048576,)"),
    AssertionError("labels must be positive"),
    AssertionError(),
    RuntimeError("the model is not initialized"),
    RuntimeError("worker exited"),
    NotImplementedError(),
    ZeroDivisionError("division by zero"),
    KeyboardInterrupt(),
    SystemExit(1),
    AssertionError("optimizer not found"),
]  # fmt: skip


@pytest.mark.parametrize("case", RAISED, ids=[f"{id_}-{i}" for i, (id_, _) in enumerate(RAISED)])
def test_what_paddle_raises_finds_its_advice(case):
    wanted, provoke = case
    with pytest.raises(Exception) as raised:  # noqa: PT011  (each has its own)
        provoke()
    (found,) = error_help(described(raised.value))
    assert found.id == wanted
    assert not re.search(r"\{\w+\}", found.title + found.advice)


@pytest.mark.parametrize("wanted", IN_A_PROCESS_OF_THEIR_OWN)
def test_what_leaves_threads_behind_finds_its_advice(wanted, tmp_path):
    # The answer has a file of its own: Paddle's threads and workers print at any time.
    answer, printed = tmp_path / "answer.txt", tmp_path / "printed.txt"
    code = f"""
import os
from pathlib import Path
from paddle_lab.capture.recorder.faults import described
from paddle_lab.error_help.lookup import error_help
from tests.error_help.raised import IN_A_PROCESS_OF_THEIR_OWN
try:
    IN_A_PROCESS_OF_THEIR_OWN[{wanted!r}]()
except BaseException as error:
    Path({str(answer)!r}).write_text(repr([found.id for found in error_help(described(error))]))
os._exit(0)
"""
    # A file, not a pipe: Paddle's worker outlives the process, and would keep a pipe open.
    with printed.open("w") as stdout:
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdout=stdout,
            stderr=subprocess.STDOUT,
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONPATH": "."},
            start_new_session=True,
        )
        process.wait()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    assert answer.exists(), printed.read_text()
    assert answer.read_text() == repr([wanted])


@pytest.mark.parametrize(("wanted", "text", "source"), RECORDED)
def test_what_cannot_be_provoked_here_finds_its_advice(wanted, text, source):
    assert [found.id for found in error_help(text)] == [wanted]


@pytest.mark.parametrize("error", ORDINARY, ids=repr)
def test_the_readers_own_errors_find_none(error):
    assert error_help(described(error)) == []


def test_the_advice_names_what_the_error_says(monkeypatch):
    text = (
        "IndexError: (OutOfRange) label value should less than the shape of axis dimension when "
        "label value(5) not equal to ignore_index(-100), But received label value as 5 and shape "
        "of axis dimension is 3"
    )
    monkeypatch.setattr(spoken, "_chosen", "en")
    assert "Label 5 was met where the logits have 3 classes" in str(error_help(text)[0])
    monkeypatch.setattr(spoken, "_chosen", "zh")
    assert "出现了标签 5，而 logits 只有 3 类" in str(error_help(text)[0])


def test_what_a_finding_says_better_is_left_out():
    text = (
        "RuntimeError: (PermissionDenied) Tensor '' used in gradient computation has been modified "
        "by an inplace operation."
    )
    assert kinds_that_explain(text) == ["inplace-modified"]
    assert len(error_help(text)) == 1
    assert error_help(text, explained=["inplace-modified"]) == []


def test_every_row_is_whole():
    rows = known_errors()
    assert len({row["id"] for row in rows}) == len(rows) >= 40
    tested = {wanted for wanted, *_ in (*RAISED, *RECORDED)} | set(IN_A_PROCESS_OF_THEIR_OWN)
    untested = {row["id"] for row in rows} - tested
    assert untested <= {"executor-in-dynamic-mode", "inference-directory-missing",
                        "kernel-missing-device"}  # fmt: skip
    for row in rows:
        groups = {name for pattern in row["patterns"] for name in re.compile(pattern).groupindex}
        for key in ("title", "advice"):
            english, chinese = row["en"][key], row["zh"][key]
            assert english
            assert chinese
            assert english != chinese
            for speaks in (english, chinese):
                assert set(re.findall(r"\{(\w+)\}", speaks)) <= groups, row["id"]
        assert row["source"]


def test_a_trace_without_a_notebook_has_the_advice():
    import paddle

    with pytest.raises(ValueError, match="matmul"), paddle_lab.trace() as trace:
        paddle.ones([2, 3]) @ paddle.ones([4, 5])
    assert [found.id for found in trace.error_help] == ["matmul-shape"]
    with paddle_lab.trace() as trace:
        paddle.ones([2, 3])
    assert trace.error_help == []


@pytest.mark.parametrize("length", [10_000, 1_000_000])
def test_a_hostile_text_takes_no_time(length):
    for filling in ("a", " ", "[", "Tensor ", "(", "`", "\n", "1, "):
        text = filling * (length // len(filling))
        assert error_help(f"RuntimeError: {text}") == []
        error_help(f"ValueError: In operator matmul, {text} dimension of Input(X)")
