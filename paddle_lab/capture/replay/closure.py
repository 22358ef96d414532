"""Finds the recorded calls that a value depends on."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from paddle_lab.capture.replay.calls import RecordedCall


def leading_to(
    calls: Mapping[float, RecordedCall], target: float, storage_of: dict[int, int]
) -> list[float]:
    """Return the keys of a call and of all calls that must run before it, in order.

    A call must run if it made a tensor that a later of these calls reads, or if it wrote into the
    memory of such a tensor.

    Parameters
    ----------
    calls
        All calls by key, in order.
    target
        The key of the call whose results are asked for.
    storage_of
        The storage of each tensor.
    """
    keys = [key for key in calls if key <= target]
    extra: set[int] = set()
    while True:
        needed = set(extra)
        storages = {storage_of[number] for number in needed}
        found: list[float] = []
        for key in reversed(keys):
            call = calls[key]
            if key != target and not _is_needed(call, needed, storages):
                continue
            found.append(key)
            needed.update(call.reads)
            storages.update(storage_of[number] for number in call.reads)
            storages.discard(-1)
        # A backward call reads tensors that earlier ops saved, so writes since then count, too.
        has_backward = any(calls[key].name in BACKWARD for key in found)
        if not has_backward or needed <= extra:
            return found[::-1]
        extra = needed


BACKWARD = ("run_backward", "run_partial_grad")
"""Names of the calls that read the tensors that earlier ops saved."""


def _is_needed(call: RecordedCall, needed: Collection[int], storages: Collection[int]) -> bool:
    return any(number in needed for number in call.made) or any(
        storage in storages for storage in call.writes
    )
