"""Finds mistakes in the set-up of a job."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from paddle_lab.runs.collectives import odd_ones
from paddle_lab.runs.finding import RunFinding, ranks_said
from paddle_lab.words import say

_COMPARED: Final = ("world", "endpoints", "backend", "paddle", "python", "paddle_lab")


def setup_findings(setups: Mapping[int, Mapping[str, Any]]) -> list[RunFinding]:
    """Return the mistakes in the set-ups of ranks. ``rank_setup.py`` collects the set-ups."""
    found = [_finding(*one) for rank, one_rank in setups.items() for one in _own(rank, one_rank)]
    return [*found, *_between(setups)]


def _finding(key: str, ranks: tuple[int, ...], values: dict[str, Any]) -> RunFinding:
    message = say(f"runs.setup.{key}", ranks=ranks_said(ranks), **values)
    severity: Literal["error", "warning"] = "warning" if key == "version" else "error"
    return RunFinding("setup", message, say("runs.setup.advice"), ranks, severity=severity)


def _own(rank: int, setup: Mapping[str, Any]) -> Iterator[tuple[str, tuple[int, ...], Any]]:
    """Yield the mistakes in the set-up of one rank."""
    number, world = str(setup["rank"]), str(setup["world"])
    for name, value in (("PADDLE_TRAINER_ID", number), ("PADDLE_TRAINERS_NUM", world)):
        if not value.isdigit():
            yield "no_number", (rank,), {"name": name, "value": value}
            return
    endpoints = list(setup["endpoints"])
    if int(number) >= int(world):
        yield "too_large", (rank,), {"rank": number, "world": world}
    elif endpoints and len(endpoints) != int(world):
        yield "endpoint_count", (rank,), {"n": len(endpoints), "world": world}
    elif endpoints and setup["endpoint"] not in ("", endpoints[int(number)]):
        yield "endpoint", (rank,), {"own": setup["endpoint"], "listed": endpoints[int(number)]}
    twice = sorted({one for one in endpoints if endpoints.count(one) > 1})
    if twice:
        yield "endpoint_twice", (rank,), {"endpoint": twice[0]}
    if setup["is_port_taken"]:
        yield "port", (rank,), {"endpoint": setup["endpoint"]}
    device, backend = str(setup["device"]), setup["backend"]
    if device and (backend, device.startswith("gpu")) in (("nccl", False), ("gloo", True)):
        yield "backend", (rank,), {"backend": backend, "device": device}


def _between(setups: Mapping[int, Mapping[str, Any]]) -> Iterator[RunFinding]:
    """Yield the differences between ranks that must not be, such as two ranks on one GPU."""
    on_gpu: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for rank, setup in setups.items():
        if setup["gpu"]:
            on_gpu[setup["host"], setup["gpu"]].append(rank)
    for (host, gpu), ranks in on_gpu.items():
        if len(ranks) > 1:
            yield _finding("gpu", tuple(ranks), {"gpu": gpu, "host": host})
    for name in _COMPARED:
        values = {rank: str(setup[name]) for rank, setup in setups.items()}
        odd = odd_ones(values) if values else []
        if odd:
            others = [rank for rank in values if rank not in odd]
            told = {
                "name": name, "value": values[odd[0]], "others": ranks_said(others),
                "usual": values[others[0]],
            }  # fmt: skip
            is_version = name in ("paddle", "python", "paddle_lab")
            yield _finding("version" if is_version else "differs", tuple(odd), told)
