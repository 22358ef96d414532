"""What to say about a leak: how fast it grows, on which line, and in what it gathers."""

from __future__ import annotations

import re

import numpy as np

from paddle_lab.analysis.memory.allocations import AllocationTable
from paddle_lab.analysis.memory.place import PlaceMemory
from paddle_lab.analysis.memory.sizes import size_text
from paddle_lab.words import say

_WORTH = 0.15
"""What a long run would not fill this part of the memory with is not worth a sentence."""

_STEPS = 10_000
"""A long run."""

_WHOLE = re.compile(r"[^.\[]+")
"""The variable in ``"losses[3]"`` and ``"model.cache"``."""


def leak_advice(memory: PlaceMemory, *, total_bytes: int) -> tuple[float, str] | None:
    """Return how much memory is about to leak and a sentence on it, None where little does.

    Parameters
    ----------
    memory
        Memory of a place.
    total_bytes
        What was allocated in the moment that matters.
    """
    found = memory.growth()
    if not found or found[0].bytes_per_step * _STEPS < _WORTH * total_bytes:
        return None
    worst = found[0]
    gatherer = keeper(memory, worst.allocations)
    values = {
        "size": size_text(worst.bytes_per_step),
        "line": worst.where or say("memory.advice.unknown_line"),
    }
    sentence = say("memory.advice.leak", **values)
    if gatherer and worst.frame:
        sentence = say("memory.advice.leak_in", keeper=gatherer, **values)
    # One thing that is kept keeps what many lines made: its backward graph.
    return max(sum(line.total_bytes for line in found), 1) * 2.0, sentence


def keeper(memory: PlaceMemory, blocks: AllocationTable) -> str:
    """Return the variable that holds most of some blocks, ``""`` where none holds half of them.

    Parameters
    ----------
    memory
        Memory of a place.
    blocks
        Some of its blocks.
    """
    size = memory.record.allocations["bytes"]
    held: dict[str, int] = {}
    for holder in memory.holders():
        whole = _WHOLE.match(holder.name)
        if whole and holder.kind in {"variable", "container", "backward_graph", "view"}:
            own = holder.allocations.keys
            kept = int(size[own[np.isin(own, blocks.keys)]].sum())
            held[whole[0]] = held.get(whole[0], 0) + kept
    best = max(held, key=lambda name: held[name], default="")
    return best if best and held[best] * 2 >= blocks.total_bytes > 0 else ""
