"""``cuda-error``: the part that can be tested without a GPU."""

from __future__ import annotations

import paddle

import paddle_lab
from paddle_lab.capture.evidence.collector import CudaErrors

_FLAG = "FLAGS_check_cuda_error"


def test_a_build_without_cuda_says_so_where_it_was_asked():
    for check, count in (("cuda-error", 1), ("all", 0), (None, 0)):
        with paddle_lab.trace(check=check) as trace:
            paddle.ones([2])
        said = [notice for notice in trace.record.origin.notices if "without CUDA" in notice]
        assert len(said) == (0 if paddle.is_compiled_with_cuda() else count)
        assert paddle.get_flags(_FLAG)[_FLAG] is False


def test_the_flag_is_set_and_restored():
    collector = CudaErrors(paddle)
    collector.open()
    assert paddle.get_flags(_FLAG)[_FLAG] is True
    collector.close()
    collector.close()
    assert paddle.get_flags(_FLAG)[_FLAG] is False


def test_the_op_that_a_cuda_error_ended_is_named():
    paddle.seed(0)
    trace = None
    try:
        with paddle_lab.trace(check="cuda-error") as trace:
            x = paddle.ones([2, 3])
            x @ x  # raises
    except ValueError:
        pass
    # Texts from paddle/phi/core/enforce.cc, which this machine cannot raise.
    trace.record.origin.exception = "OSError: (External) CUDA error(700), an illegal memory access."
    (finding,) = trace.findings
    assert (finding.kind, finding.severity) == ("cuda-error", "error")
    assert finding.code.strip() == "x @ x  # raises"
    assert "CUDA error 700" in finding.message
