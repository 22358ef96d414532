"""What to do about too much memory: sentences that fit what was found, with its names in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from paddle_lab.analysis.memory.advice.failed_request import FailedRequest
from paddle_lab.analysis.memory.advice.leak_advice import keeper, leak_advice
from paddle_lab.analysis.memory.breakdown import Share
from paddle_lab.analysis.memory.sizes import size_text
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import BACKWARD_KINDS
from paddle_lab.words import say

if TYPE_CHECKING:
    from paddle_lab.analysis.memory.allocation import Allocation
    from paddle_lab.analysis.memory.memory import Memory

_WORTH = 0.15
"""What holds less than this part of the memory is not worth a sentence."""

Finding = tuple[float, str]
"""How many bytes the sentence is about, and the sentence."""


def last_resort() -> str:
    """Return what to do where nothing found out says more."""
    return say("memory.advice.last_resort")


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
    for kind, sentence_on in _BY_KIND.items():
        share = by_kind.get(kind)
        if share is not None and share.share >= _WORTH:
            in_vain = kind == "saved_activation" and not ran_backward
            sentence = (_saved_in_vain if in_vain else sentence_on)(share)
            if kind == "activation":
                sentence = _activations(share, kept_in=keeper(memory, share.allocations))
            findings.append((share.bytes, sentence))
    findings += _not_used(memory, total)
    findings += _fragmented(memory, time_ns, request.requested_bytes if request else None)
    findings.sort(key=lambda finding: -finding[0])
    sentences = [sentence for _, sentence in findings]
    if request is not None and not sentences:
        sentences = [last_resort()]
    return sentences


def _held_by_the_notebook(memory: Memory, total: int, *, failed: bool) -> list[Finding]:
    found = []
    for kind in ("output", "traceback"):
        held = [holder for holder in memory.holders() if holder.kind == kind]
        size = sum(holder.bytes for holder in held)
        if size >= _WORTH * total:
            names = say("lists.between").join(holder.name for holder in held[:3])
            # An error's own traceback is no cause of it, but in the way of the next try.
            is_own = failed and kind == "traceback"
            key = "own_traceback" if is_own else kind
            sentence = say(f"memory.advice.{key}", size=size_text(size), names=names)
            found.append((0.0 if is_own else float(size), sentence))
    return found


def _sentence(kind: str, share: Share, where: str = "") -> str:
    return say(
        f"memory.advice.{kind}",
        **({"where": where} if kind in _TOLD_WHERE else {}),
        size=size_text(share.bytes),
        share=f"{share.share:.0%}",
    )


def _where(key: str, most: tuple[str, int] | None) -> str:
    if most is None:
        return ""
    return say(f"memory.advice.{key}", name=most[0], size=size_text(most[1]))


def _saved(share: Share) -> str:
    most = _largest(share, lambda block: block.layer)
    return _sentence("saved", share, _where("mostly_in", most))


def _saved_in_vain(share: Share) -> str:
    return _sentence("saved_in_vain", share)


def _activations(share: Share, *, kept_in: str = "") -> str:
    where = _where("mostly_from", _largest(share, lambda block: block.where))
    where += say("memory.advice.kept_in", name=kept_in) if kept_in else ""
    return _sentence("activation", share, where)


def _temporary(share: Share) -> str:
    def op_at(block: Allocation) -> str:
        return say("memory.advice.op_at", op=block.label, line=block.where) if block.label else ""

    return _sentence("temporary", share, _where("mostly_of_it_in", _largest(share, op_at)))


def _parameters(share: Share) -> str:
    most = _largest(share, lambda block: block.layer)
    return _sentence("parameter", share, _where("some_in", most))


def _gradients(share: Share) -> str:
    return _sentence("gradient", share)


def _optimizer(share: Share) -> str:
    return _sentence("optimizer_state", share)


def _inputs(share: Share) -> str:
    return _sentence("input", share)


_TOLD_WHERE = frozenset({"saved", "activation", "temporary", "parameter"})
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
    sentence = say("memory.advice.not_used", size=size_text(memory.unseen_bytes))
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
    key = "memory.advice.fragmented_enough" if enough else "memory.advice.fragmented"
    sentence = say(key, unused=size_text(unused), reserved=size_text(reserved))
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
