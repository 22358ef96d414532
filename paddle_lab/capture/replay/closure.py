"""Finds the recorded calls that a value depends on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from paddle_lab.capture.replay.calls import BACKWARD, HOOK, PROGRAM, PYLAYER, WRITE, RecordedCall

Block = tuple[int, int]
"""A block of memory: its address, and how many earlier blocks had this address."""
_NO_OPS = (PYLAYER, PROGRAM, HOOK, WRITE)


def memory_blocks(
    calls: Sequence[RecordedCall], storage_of: Callable[[int], int]
) -> tuple[dict[int, set[Block]], list[set[Block]]]:
    """Return the blocks of memory that each tensor may have, and those that each call writes.

    Freed memory is used again. So an op's output begins a new block, unless it shares the memory
    of a tensor that the op read. A sparse tensor may share memory with all tensors of its ops.
    """
    earlier: dict[int, int] = {}
    blocks: dict[int, set[Block]] = {}
    writes = []

    def note(number: int) -> None:
        storage = storage_of(number)
        own = {(storage, earlier.get(storage, 0))} if storage != -1 else set()
        blocks.setdefault(number, own)

    for call in calls:
        reads = [n for n in (*call.reads, *call.special.leaves, *call.special.earlier) if n >= 0]
        for number in reads:
            note(number)
        writes.append({(one, earlier.get(one, 0)) for one in call.special.writes})
        shared = {*map(storage_of, reads)}
        if call.function not in _NO_OPS and call.name not in BACKWARD and -1 not in shared:
            made = {storage_of(number) for number in call.made if number not in blocks}
            earlier.update((one, earlier.get(one, 0) + 1) for one in made - shared)
        for number in call.made:
            note(number)
        if call.name.startswith("sparse_"):
            numbers = (*call.reads, *call.made)
            for number in numbers:
                if storage_of(number) == -1:
                    blocks[number].update(*(blocks[one] for one in numbers))
    return blocks, writes


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
    blocks, writes = memory_blocks(calls, storage_of)

    def blocks_of(numbers: Collection[int]) -> set[Block]:
        return {block for number in numbers for block in blocks.get(number, ())}

    extra = {wanted} - {-1}
    has_backward = False
    while True:
        needed = set(extra)
        reached = blocks_of(needed)
        found: list[RecordedCall] = []
        for call, written in zip(reversed(calls), reversed(writes), strict=True):
            is_last = wanted < 0 and call is calls[-1]
            # What a PyLayer or to_static ran are calls of their own. It matters for gradients only.
            is_skipped = not has_backward and call.function in (PYLAYER, PROGRAM, HOOK)
            is_needed = not needed.isdisjoint(call.made) or not reached.isdisjoint(written)
            if not is_last and (is_skipped or not is_needed):
                continue
            found.append(call)
            needed.update(call.needs)
            reached |= blocks_of(call.needs)
        # A backward call reads tensors that earlier ops saved, so writes since then count, too.
        has_backward = any(call.name in BACKWARD for call in found)
        if not has_backward or needed <= extra:
            return found[::-1]
        extra = needed
