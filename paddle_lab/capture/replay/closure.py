"""Finds the recorded calls that a value depends on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import chain

from paddle_lab.capture.replay.calls import BACKWARD, HOOK, PYLAYER, RecordedCall


def leading_to(
    calls: Sequence[RecordedCall], storage_of: Callable[[int], int], wanted: int
) -> list[RecordedCall]:
    """Return the calls that must run for a tensor or the last call, in order.

    A call must run if it made a tensor that a later call of the result reads, or if it wrote into
    the memory of such a tensor.

    Parameters
    ----------
    calls
        All calls in order, up to the call whose results are asked for.
    storage_of
        Returns the storage of a tensor.
    wanted
        The number of the tensor; -1 for what the last call reads.
    """
    sharing = _sharing(calls, storage_of)

    def storages_of(numbers: Collection[int]) -> set[int]:
        shared = (sharing.get(number, ()) for number in numbers)
        return {*map(storage_of, numbers), *chain.from_iterable(shared)} - {-1}

    extra = {wanted} - {-1}
    has_backward = False
    while True:
        needed = set(extra)
        storages = storages_of(needed)
        found: list[RecordedCall] = []
        for call in reversed(calls):
            is_last = wanted < 0 and call is calls[-1]
            # The ops inside a PyLayer are calls of their own. It matters for gradients only.
            is_skipped = not has_backward and call.function in (PYLAYER, HOOK)
            if not is_last and (is_skipped or not _is_needed(call, needed, storages)):
                continue
            found.append(call)
            needed.update(call.needs)
            storages |= storages_of(call.needs)
        # A backward call reads tensors that earlier ops saved, so writes since then count, too.
        has_backward = any(call.name in BACKWARD for call in found)
        if not has_backward or needed <= extra:
            return found[::-1]
        extra = needed


def _sharing(
    calls: Sequence[RecordedCall], storage_of: Callable[[int], int]
) -> dict[int, set[int]]:
    """Return the storages that a sparse tensor may share, such as that of its values."""
    found: dict[int, set[int]] = {}
    for call in calls:
        if call.name.startswith("sparse_"):
            numbers = (*call.reads, *call.made)
            for number in numbers:
                if storage_of(number) == -1:
                    found.setdefault(number, set()).update(map(storage_of, numbers))
    return found


def _is_needed(call: RecordedCall, needed: Collection[int], storages: Collection[int]) -> bool:
    return any(number in needed for number in call.made) or any(
        storage in storages for storage in call.special.writes
    )
