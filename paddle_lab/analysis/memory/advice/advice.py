"""Advice about too much memory: sentences that name lines, ops and layers."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from paddle_lab.analysis.memory.advice.failed_request import FailedRequest
from paddle_lab.analysis.memory.allocations import Allocation, AllocationTable
from paddle_lab.analysis.memory.breakdown import Share
from paddle_lab.analysis.memory.growth import LineGrowth
from paddle_lab.analysis.memory.place import PlaceMemory
from paddle_lab.analysis.memory.sizes import SMALLEST_BYTES, size_text
from paddle_lab.trace.schema import BACKWARD_KINDS, HOLDER_KINDS
from paddle_lab.words import say

_WORTH = 0.15
"""A finding about a smaller share of the memory than this gets no sentence."""

_STEPS = 10_000
"""A leak is judged by how much memory it would take in this many steps."""

_WHOLE = re.compile(r"[^.\[]+")
"""The variable in ``"losses[3]"`` and ``"model.cache"``."""

Finding = tuple[float, str]
"""How many bytes the sentence is about, and the sentence."""


def last_resort() -> str:
    """Return general advice, for the case that nothing specific was found."""
    return say("memory.advice.last_resort")


def advice(memory: PlaceMemory, *, time_ns: int, request: FailedRequest | None = None) -> list[str]:
    """Return advice on how to lower the memory at a moment, the most promising first.

    Parameters
    ----------
    memory
        Memory of a place.
    time_ns
        The moment: of an error, or the peak.
        request
        The failed allocation at that moment, if any.
    """
    total = max(1, memory.timeline.at(time_ns))
    findings: list[Finding] = []
    if request is not None:
        beyond = request.advice(total)
        if request.is_beyond(max(total, memory.fragmentation().reserved_at(time_ns))):
            return [beyond]
        if beyond:
            findings.append((float(request.requested_bytes or 0) * 10, beyond))
    leak = leak_advice(memory, total_bytes=total)
    findings += [leak] if leak else []
    findings += _held_by_the_notebook(memory, total, failed=request is not None)
    for share in memory.by_kind(time_ns):
        if share.label in _BY_KIND and share.share >= _WORTH:
            findings.append((share.bytes, _on_kind(memory, share)))
    if memory.unseen_bytes >= _WORTH * total:
        sentence = say("memory.advice.not_used", size=size_text(memory.unseen_bytes))
        findings.append((memory.unseen_bytes, sentence))
    findings += _fragmented(memory, time_ns, request.requested_bytes if request else None)
    findings.sort(key=lambda finding: -finding[0])
    sentences = [sentence for _, sentence in findings]
    if request is not None and not sentences:
        sentences = [last_resort()]
    return sentences


def _held_by_the_notebook(memory: PlaceMemory, total: int, *, failed: bool) -> list[Finding]:
    table, bytes_of = memory.record.holders, memory.record.allocations["bytes"]
    notebooks = [HOLDER_KINDS.index(kind) for kind in ("output", "traceback")]
    # The notebook can only release a block that no variable holds.
    others = table["allocation"][~np.isin(table["kind"], notebooks)]
    found = []
    for kind in ("output", "traceback"):
        of_kind = (holder for holder in memory.holders() if holder.kind == kind)
        held = [one for one in of_kind if not np.isin(one.allocations.keys, others).all()]
        keys = {key for holder in held for key in holder.allocations.keys.tolist()}
        size = int(bytes_of[sorted(keys.difference(others.tolist()))].sum())
        if held and size >= _WORTH * total:
            names = say("lists.between").join(holder.name for holder in held[:3])
            # The traceback of this error is not the cause, but its memory is missing in the next
            # attempt.
            is_own = failed and kind == "traceback"
            key = "own_traceback" if is_own else kind
            sentence = say(f"memory.advice.{key}", size=size_text(size), names=names)
            found.append((0.0 if is_own else float(size), sentence))
    return found


def _op_at(block: Allocation) -> str:
    return say("memory.advice.op_at", op=block.label, line=block.where) if block.label else ""


_BY_KIND: dict[str, tuple[str, str, Callable[[Allocation], str] | None]] = {
    "saved_activation": ("saved", "mostly_in", lambda block: block.layer),
    "activation": ("activation", "mostly_from", lambda block: block.where),
    "temporary": ("temporary", "mostly_of_it_in", _op_at),
    "parameter": ("parameter", "some_in", lambda block: block.layer),
    "gradient": ("gradient", "", None),
    "optimizer_state": ("optimizer_state", "", None),
    "input": ("input", "", None),
}
"""For each kind of block: a sentence, the phrase for the largest owner, and this owner."""


def _on_kind(memory: PlaceMemory, share: Share) -> str:
    sentence, where, named = _BY_KIND[share.label]
    size, part = size_text(share.bytes), f"{share.share:.0%}"
    calls = memory.record.backward_calls["kind"]
    if share.label == "saved_activation" and np.all(calls == BACKWARD_KINDS.index("remaining")):
        sentence, named = "saved_in_vain", None
    if named is None:
        return say(f"memory.advice.{sentence}", size=size, share=part)
    most = share.allocations.bytes_by_name(named, 2000)[:1]
    where_most = "".join(
        say(f"memory.advice.{where}", name=name, size=size_text(size)) for name, size in most
    )
    kept_in = _keeper(memory, share.allocations) if share.label == "activation" else ""
    where_most += say("memory.advice.kept_in", name=kept_in) if kept_in else ""
    return say(f"memory.advice.{sentence}", size=size, share=part, where=where_most)


def _fragmented(memory: PlaceMemory, time_ns: int, requested_bytes: int | None) -> list[Finding]:
    known = memory.fragmentation()
    unused, reserved = known.at(time_ns), known.reserved_at(time_ns)
    enough = requested_bytes is not None and unused >= requested_bytes
    if not known.is_known or not (enough or unused >= 0.3 * reserved):
        return []
    key = "memory.advice.fragmented_enough" if enough else "memory.advice.fragmented"
    sentence = say(key, unused=size_text(unused), reserved=size_text(reserved))
    # If the unused memory was large enough for the request, this advice comes first.
    return [(reserved + 1.0 if enough else float(unused), sentence)]


def leak_advice(memory: PlaceMemory, *, total_bytes: int) -> Finding | None:
    """Return a weight and a sentence about a leak, None if the memory grows little.

    Parameters
    ----------
    memory
        Memory of a place.
    total_bytes
        The bytes allocated at the moment of interest.
    """
    found = [line for line in memory.growth() if not _is_history(memory, line)]
    grown_bytes = sum(line.total_bytes for line in found)
    if grown_bytes < SMALLEST_BYTES or found[0].bytes_per_step * _STEPS < _WORTH * total_bytes:
        return None
    worst = found[0]
    gatherer = _keeper(memory, worst.allocations)
    values = {
        "size": size_text(worst.bytes_per_step),
        "line": worst.where or say("memory.advice.unknown_line"),
    }
    sentence = say("memory.advice.leak", **values)
    if gatherer and worst.frame:
        sentence = say("memory.advice.leak_in", keeper=gatherer, **values)
    # Rank by the growth of all lines, because one kept tensor keeps blocks of many lines alive.
    return grown_bytes * 2.0, sentence


def _is_history(memory: PlaceMemory, line: LineGrowth) -> bool:
    """Tell whether most of a line's growth is what LBFGS keeps of its newest steps by design."""
    record = memory.record
    classes = {record.text(code) for code in record.optimizers["class"].tolist()}
    states = (block.bytes for block in line.allocations if block.kind == "optimizer_state")
    return "LBFGS" in classes and sum(states) * 2 > line.allocations.total_bytes


def _keeper(memory: PlaceMemory, blocks: AllocationTable) -> str:
    """Return the variable that holds most of these bytes, ``""`` if none holds half of them.

    Parameters
    ----------
    memory
        Memory of a place.
    blocks
        Some blocks of this memory.
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
