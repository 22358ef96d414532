"""Which recorded calls lead to a value."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from paddle_lab.capture.replay.calls import RecordedCall


def leading_to(
    calls: Mapping[float, RecordedCall], target: float, storage_of: dict[int, int]
) -> list[float]:
    """Return the keys of the calls that must run again for a call, in order, with the call itself.

    A call is needed if it made a tensor that is read later, or wrote into the memory of one.

    Parameters
    ----------
    calls
        By the key of the op, in order.
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
        # A backward call reads what earlier ops saved, so what was written in between counts.
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
