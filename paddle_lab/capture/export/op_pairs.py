"""Pairs the ops of an eager run with those of a compiled program, and compares their outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import Any, Final, NamedTuple

from paddle_lab.capture.export.eager_ops import OpRun
from paddle_lab.capture.export.stages import StageRun, compared

_CONSTANTS: Final = frozenset({"full", "full_int_array"})
"""Ops that make numbers in a program. In eager mode, ops take numbers directly."""
_BESIDE: Final = frozenset({
    "full_like", "assign", "assign_value", "cast", "shape", "shape64", "slice", "split", "combine",
    "if", "while", "set_value", "select_input",
})  # fmt: skip
"""Ops that may be in one run only, although both compute the same."""


class Pair(NamedTuple):
    """An op of the eager run, and the corresponding op of the program. Either may be missing."""

    eager: OpRun | None
    static: OpRun | None
    compared: StageRun | None
    """How far the outputs differ; ``None`` if one run has no outputs."""
    is_alone: bool = False
    """Whether the other run has no op for this line at this point."""

    def without_values(self) -> Pair:
        """Return the same pair without the outputs."""
        eager, static = (op and op._replace(outputs=[]) for op in (self.eager, self.static))
        return self._replace(eager=eager, static=static)

    @property
    def differs(self) -> bool:
        """Whether the outputs differ by more than rounding can explain."""
        return self.compared is not None and self.compared.differs


def pairs(eager: Sequence[OpRun], static: Sequence[OpRun]) -> list[Pair]:
    """Return all ops in order, paired by line, order and name."""
    numbers = [Counter(map(_constant, ops)) for ops in (eager, static)]
    ours, theirs = (
        _by_line([op for op in ops if _is_compared(op, *numbers)]) for ops in (eager, static)
    )
    matcher = SequenceMatcher(
        None, [run[0].place for run in ours], [run[0].place for run in theirs], autojunk=False
    )
    found: list[Pair] = []
    for kind, i, i_end, j, j_end in matcher.get_opcodes():
        if kind == "equal":
            for one, other in zip(ours[i:i_end], theirs[j:j_end], strict=True):
                found.extend(_of_line(one, other))
        else:
            found.extend(Pair(op, None, None, is_alone=True) for run in ours[i:i_end] for op in run)
            found.extend(
                Pair(None, op, None, is_alone=True) for run in theirs[j:j_end] for op in run
            )
    _blame_casts(found)
    return found


def _blame_casts(found: list[Pair]) -> None:
    """Let a cast of one run differ, if the op that reads its output has another dtype there."""
    casts: dict[int, int] = {}
    for row, pair in enumerate(found):
        ops = [op for op in (pair.eager, pair.static) if op is not None]
        if len(ops) == 1 and plain(ops[0].name) == "cast":
            casts.update(dict.fromkeys(ops[0].makes, row))
        elif pair.differs and len({op.outputs[0].dtype for op in ops}) == 2:
            for cast in {casts[value] for op in ops for value in op.reads if value in casts}:
                differs = StageRun("cast", has_run=True, differs=True)
                found[cast] = found[cast]._replace(compared=differs)


def first_difference(found: Sequence[Pair]) -> Pair | None:
    """Return where the runs first differ: in their ops, or in an output."""
    parted: Pair | None = None
    lost: dict[int, Pair] = {}
    for pair in found:
        if pair.differs:
            reads = pair.static.reads if pair.static else ()
            return parted or next((lost[value] for value in reads if value in lost), pair)
        if pair.eager and pair.eager.name.endswith("_") and pair.static and pair.static.is_unused:
            # The program computes what the eager op writes in place, and then drops it.
            lost.update(dict.fromkeys(pair.static.reads[:1], pair))
        if pair.compared is not None:
            parted = None
        elif pair.is_alone and not _is_beside(pair):
            parted = pair if parted is None else _joined(parted, pair)
    return None


def _is_compared(op: OpRun, eager: Counter[Any], static: Counter[Any]) -> bool:
    """Whether an op is no constant, or is one for which the user's line asks in both runs."""
    found = _constant(op)
    return plain(op.name) not in _CONSTANTS or static[found] in (0, eager[found])


def _constant(op: OpRun) -> tuple[Any, ...]:
    return op.place, plain(op.name), *(one.shape for one in op.outputs)


def _by_line(ops: Sequence[OpRun]) -> list[list[OpRun]]:
    return [list(run) for _, run in groupby(ops, key=lambda op: op.place)]


def _of_line(eager: list[OpRun], static: list[OpRun]) -> Iterator[Pair]:
    if any(plain(op.name) == "while" for op in static):  # all iterations are on this line in eager
        yield from (Pair(op, None, None) for op in eager)
        yield from (Pair(None, op, None) for op in static)
        return
    own_names = [op.kind or plain(op.name) for op in eager]
    names = [plain(op.name) for op in static]
    matcher = SequenceMatcher(None, own_names, names, autojunk=False)
    for kind, i, i_end, j, j_end in matcher.get_opcodes():
        ours, theirs = eager[i:i_end], static[j:j_end]
        if kind == "equal":
            for one, other in zip(ours, theirs, strict=True):
                yield _paired(one, other)
        else:
            # If the ops differ, compare the last outputs: that of linear with that of add, which
            # follows matmul.
            count = len(ours) if len(ours) == len(theirs) else min(1, len(ours), len(theirs))
            # If the other run has an op of this name here, a loop makes more turns in this run.
            yield from (
                Pair(op, None, None, is_alone=plain(op.name) in names)
                for op in ours[: len(ours) - count]
            )
            yield from (
                Pair(None, op, None, is_alone=plain(op.name) in own_names)
                for op in theirs[: len(theirs) - count]
            )
            for one, other in zip(ours[len(ours) - count :], theirs[len(theirs) - count :],
                                  strict=True):  # fmt: skip
                yield _paired(one, other)


def _paired(eager: OpRun, static: OpRun) -> Pair:
    if not eager.outputs or not static.outputs:
        return Pair(eager, static, None)
    shapes = [[one.shape for one in op.outputs] for op in (eager, static)]
    if plain(eager.name) != plain(static.name) and shapes[0] != shapes[1]:
        return Pair(eager, static, None)
    return Pair(eager, static, compared(eager.name, eager.outputs, static.outputs))


def plain(name: str) -> str:
    """Return an op's name without dialect and in-place mark: ``pd_op.add_`` becomes ``add``."""
    return name.rpartition(".")[2].rstrip("_")


def _joined(parted: Pair, pair: Pair) -> Pair:
    return Pair(parted.eager or pair.eager, parted.static or pair.static, None, is_alone=True)


def _is_beside(pair: Pair) -> bool:
    return all(plain(op.name) in _BESIDE for op in (pair.eager, pair.static) if op is not None)
