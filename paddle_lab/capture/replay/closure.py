"""Finds the recorded calls that a value depends on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from paddle_lab.capture.replay.calls import BACKWARD, RecordedCall


def leading_to(
    calls: Sequence[RecordedCall], storage_of: Callable[[int], int]
) -> list[RecordedCall]:
    """Return the last call and all calls that must run before it, in order.

    A call must run if it made a tensor that a later call of the result reads, or if it wrote into
    the memory of such a tensor.

    Parameters
    ----------
    calls
        All calls in order, up to the call whose results are asked for.
    storage_of
        Returns the storage of a tensor.
    """
    extra: set[int] = set()
    while True:
        needed = set(extra)
        storages = {storage_of(number) for number in needed}
        found: list[RecordedCall] = []
        for call in reversed(calls):
            if found and not _is_needed(call, needed, storages):
                continue
            found.append(call)
            needed.update(call.reads)
            storages.update(storage_of(number) for number in call.reads)
            storages.discard(-1)
        # A backward call reads tensors that earlier ops saved, so writes since then count, too.
        has_backward = any(call.name in BACKWARD for call in found)
        if not has_backward or needed <= extra:
            return found[::-1]
        extra = needed


def _is_needed(call: RecordedCall, needed: Collection[int], storages: Collection[int]) -> bool:
    return any(number in needed for number in call.made) or any(
        storage in storages for storage in call.special.writes
    )
