"""What to do about too much memory: sentences that fit what was found, with its names in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from paddle_lab.analysis.memory.breakdown import Share
from paddle_lab.analysis.memory.failed_request import FailedRequest
from paddle_lab.analysis.memory.leak_advice import keeper, leak_advice
from paddle_lab.analysis.memory.sizes import size_text
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import BACKWARD_KINDS

if TYPE_CHECKING:
    from paddle_lab.analysis.memory.memory import Memory

_WORTH = 0.15
"""What holds less than this part of the memory is not worth a sentence."""

LAST_RESORT = "Lower the batch size, or split the batch and accumulate gradients."
"""Where nothing found out says more."""

Finding = tuple[float, str]
"""How many bytes the sentence is about, and the sentence."""


def advice(
    memory: Memory,
    record: Record,
    *,
    time_ns: int,
    request: FailedRequest | None = None,
) -> list[str]:
    """Return what would lower the memory of a moment, the most promising first.

    Parameters
    ----------
    memory
        Memory of a place.
    record
        A record with answer tables.
    time_ns
        The moment: of an error, or the peak.
    request
        What could not be allocated then, if anything.
    """
    total = max(1, memory.timeline.at(time_ns))
    if request is not None and request.is_beyond(max(total, _reserved(memory, time_ns))):
        return [request.advice(total)]
    by_kind = {share.label: share for share in memory.by_kind(time_ns)}
    ran_backward = bool(np.any(record.backward_calls["kind"] != BACKWARD_KINDS.index("remaining")))
    findings: list[Finding] = []
    if request is not None and request.advice(total):
        findings.append((float(request.requested_bytes or 0) * 10, request.advice(total)))
    findings += filter(None, [leak_advice(memory, total_bytes=total)])
    findings += _held_by_the_notebook(memory, total, failed=request is not None)
    for kind, say in _BY_KIND.items():
        share = by_kind.get(kind)
        if share is not None and share.share >= _WORTH:
            in_vain = kind == "saved_activation" and not ran_backward
            sentence = (_saved_in_vain if in_vain else say)(share)
            if kind == "activation":
                sentence = _activations(share, kept_in=keeper(memory, share.allocations))
            findings.append((share.bytes, sentence))
    findings += _not_used(memory, total)
    findings += _fragmented(memory, time_ns, request.requested_bytes if request else None)
    findings.sort(key=lambda finding: -finding[0])
    sentences = [sentence for _, sentence in findings]
    if request is not None and not sentences:
        sentences = [LAST_RESORT]
    return sentences


def _held_by_the_notebook(memory: Memory, total: int, *, failed: bool) -> list[Finding]:
    found = []
    whose = "this error's traceback" if failed else "the last exception's traceback"
    for kind, why in (
        ("output", "the notebook's output history keeps it"),
        ("traceback", f"{whose} keeps it"),
    ):
        held = [holder for holder in memory.holders() if holder.kind == kind]
        size = sum(holder.bytes for holder in held)
        if size >= _WORTH * total:
            names = ", ".join(holder.name for holder in held[:3])
            # An error's own traceback is no cause of it, but in the way of the next try.
            is_own = failed and kind == "traceback"
            then = " before you run the cell again" if is_own else ""
            sentence = f"{size_text(size)} is in {names}: {why}. %paddle_mem free lets it go{then}."
            found.append((0.0 if is_own else float(size), sentence))
    return found


def _saved(share: Share) -> str:
    layer = _largest(share, lambda block: block.layer)
    where = f", most of them in {layer[0]} ({size_text(layer[1])})" if layer else ""
    return (
        f"{size_text(share.bytes)} ({share.share:.0%}) is activations kept for backward{where}: "
        "recompute such layers in backward (paddle.distributed.fleet.utils.recompute), run in half "
        "precision (paddle.amp.auto_cast), or lower the batch size."
    )


def _saved_in_vain(share: Share) -> str:
    return (
        f"{size_text(share.bytes)} ({share.share:.0%}) is activations kept for backward, and "
        "nothing ran backward: if this is evaluation, put it into a block of paddle.no_grad(), "
        "which keeps none of them."
    )


def _activations(share: Share, *, kept_in: str = "") -> str:
    line = _largest(share, lambda block: block.where)
    where = f", most of them from {line[0]} ({size_text(line[1])})" if line else ""
    where += f", kept in {kept_in}" if kept_in else ""
    return (
        f"{size_text(share.bytes)} ({share.share:.0%}) is results that backward does not need"
        f"{where}: del those that are no longer used, or compute in place."
    )


def _temporary(share: Share) -> str:
    op = _largest(share, lambda block: f"{block.label} at {block.where}" if block.label else "")
    where = f", most of it in {op[0]} ({size_text(op[1])})" if op else ""
    return (
        f"{size_text(share.bytes)} ({share.share:.0%}) is work space inside ops{where}: feed it "
        "smaller pieces, or choose an op that needs less (flash attention for attention)."
    )


def _parameters(share: Share) -> str:
    layer = _largest(share, lambda block: block.layer)
    where = f", {size_text(layer[1])} of them in {layer[0]}" if layer else ""
    return (
        f"{size_text(share.bytes)} ({share.share:.0%}) is parameters{where}: hold them in bfloat16 "
        "or float16 (paddle.amp.decorate with level='O2'), or shard them over devices "
        "(paddle.distributed.sharding.group_sharded_parallel)."
    )


def _gradients(share: Share) -> str:
    return (
        f"{size_text(share.bytes)} ({share.share:.0%}) is gradients: "
        "optimizer.clear_grad(set_to_zero=False) frees them after a step; the default fills them "
        "with zeros and keeps their memory."
    )


def _optimizer(share: Share) -> str:
    return (
        f"{size_text(share.bytes)} ({share.share:.0%}) is the optimizer's state: Adam keeps two "
        "values for each parameter, Momentum one, SGD none; over several devices "
        "paddle.distributed.sharding.group_sharded_parallel divides it."
    )


def _inputs(share: Share) -> str:
    return (
        f"{size_text(share.bytes)} ({share.share:.0%}) is data: lower the batch size, or keep it "
        "on the host and move one batch at a time."
    )


_BY_KIND: dict[str, Callable[[Share], str]] = {
    "saved_activation": _saved,
    "activation": _activations,
    "temporary": _temporary,
    "parameter": _parameters,
    "gradient": _gradients,
    "optimizer_state": _optimizer,
    "input": _inputs,
}


def _not_used(memory: Memory, total: int) -> list[Finding]:
    if memory.unseen_bytes < _WORTH * total:
        return []
    sentence = (
        f"{size_text(memory.unseen_bytes)} was allocated before this cell and is not used in it: "
        "%paddle_mem report says who holds it."
    )
    return [(float(memory.unseen_bytes), sentence)]


def _reserved(memory: Memory, time_ns: int) -> int:
    known = memory.fragmentation()
    return known.reserved_at(time_ns) if known.is_known else 0


def _fragmented(memory: Memory, time_ns: int, requested_bytes: int | None) -> list[Finding]:
    known = memory.fragmentation()
    unused, reserved = known.at(time_ns), known.reserved_at(time_ns)
    enough = requested_bytes is not None and unused >= requested_bytes
    if not known.is_known or not (enough or unused >= 0.3 * reserved):
        return []
    sentence = (
        f"{size_text(unused)} of {size_text(reserved)} reserved memory was free in pieces"
        + (", enough in all for what was asked for" if enough else "")
        + ": keep shapes alike from step to step, set FLAGS_use_virtual_memory_auto_growth=1 "
        "before Paddle is imported, or call paddle.device.cuda.empty_cache() between phases."
    )
    # Where it would have been enough, it is what failed: before all that is merely large.
    return [(reserved + 1.0 if enough else float(unused), sentence)]


def _largest(share: Share, name: Callable[..., str]) -> tuple[str, int] | None:
    """Return the name under which most of a share's bytes lie, and how many."""
    sizes: dict[str, int] = {}
    # The largest blocks decide.
    for block in share.allocations[:2000]:
        text = name(block)
        if text:
            sizes[text] = sizes.get(text, 0) + block.bytes
    if not sizes:
        return None
    best = max(sizes, key=lambda text: sizes[text])
    return best, sizes[best]
