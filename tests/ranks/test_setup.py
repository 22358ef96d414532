"""``check_cluster()`` and the finding at the start of a run: set-ups with one mistake each."""

from __future__ import annotations

import socket

import pytest

import paddle_lab
from paddle_lab.runs.setup import setup_findings

WORLD = 2


def setup(rank: int, /, **values: object) -> dict[str, object]:
    endpoints = ["a:1", "a:2"]
    return {
        "rank": str(rank), "world": str(WORLD), "endpoints": endpoints,
        "endpoint": endpoints[rank], "host": "a", "device": "cpu", "gpu": "", "backend": "gloo",
        "is_port_taken": False, "paddle": "3.3.1", "python": "3.11.7",
        "paddle_lab": "1", **values,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"world": "3"}, "has 2 endpoints, but PADDLE_TRAINERS_NUM says 3"),
        ({"rank": "2"}, "has the number 2"),
        ({"rank": "one"}, "not a number"),
        ({"endpoint": "a:9"}, "lists a:2"),
        ({"is_port_taken": True}, "already listens"),
        ({"backend": "nccl"}, "backend of rank 1 is nccl"),
        ({"device": "gpu:0"}, "but the device is gpu:0"),
        ({"paddle": "3.2.0"}, "different versions of paddle: 3.2.0 on rank 1"),
        ({"endpoints": ["a:2", "a:2"]}, "a:2 more than once"),
    ],
)
def test_each_mistake_is_told(wrong: dict[str, object], said: str) -> None:
    assert not setup_findings({rank: setup(rank) for rank in range(WORLD)})
    found = setup_findings({0: setup(0), 1: setup(1, **wrong)})
    assert said in "".join(one.message for one in found)
    assert {one.kind for one in found} == {"setup"}


def test_two_ranks_on_one_gpu_are_told_and_on_two_machines_are_not() -> None:
    gpu = {"device": "gpu:0", "gpu": "0", "backend": "nccl"}
    (found,) = setup_findings({rank: setup(rank, **gpu) for rank in range(WORLD)})
    assert found.ranks == (0, 1)
    assert not setup_findings({0: setup(0, **gpu), 1: setup(1, **gpu, host="b")})


def test_a_taken_port_is_found_before_the_job_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        endpoint = f"127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setenv("PADDLE_CURRENT_ENDPOINT", endpoint)
        monkeypatch.setenv("PADDLE_TRAINER_ENDPOINTS", endpoint)
        (found,) = paddle_lab.check_cluster().findings
    assert endpoint in found.message
    check = paddle_lab.check_cluster()
    assert not check.findings
    assert "Nothing is wrong" in repr(check)
