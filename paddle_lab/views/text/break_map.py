"""The graph breaks of a compiled function, as text and HTML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from paddle_lab.analysis.source.stacks import place
from paddle_lab.analysis.tables.text_table import sentence_html
from paddle_lab.words import say


@dataclass(frozen=True)
class _Placed:
    file: str
    line: int
    """The line number, counted from 1. Of a recompilation, the first that reads the value."""
    cell: int | None
    """Execution count of the notebook cell, None for a file."""

    @property
    def where(self) -> str:
        """``"Cell 4, line 7"`` or ``"model.py:31"``."""
        return place(self.file, self.line, self.cell)


@dataclass(frozen=True)
class Break(_Placed):
    """A line at which ``to_static`` breaks the graph, or a function that it runs eagerly."""

    kind: str
    """``"if"``, ``"while"``, ``"for"``, ``"print"``, ``"tensor-value"``, ``"numpy"`` and others."""
    cause: str
    """The expression; empty if the source is unknown."""
    reason: str
    """Paddle's own reason; empty if it gives none, as for conditions on tensors."""
    function: str
    """The function that runs eagerly as a whole; empty if only this line does."""

    @property
    def advice(self) -> str:
        """What to write instead."""
        return say(f"breaks.advice.{self.kind}")

    @property
    def effect(self) -> str:
        """The effect of the break, in a few words."""
        if self.kind == "full-graph":
            return say("breaks.not_compiled")
        if self.function:
            return say("breaks.eager", function=self.function)
        return say("breaks.split")

    def __str__(self) -> str:
        return say("breaks.row", place=self.where, kind=self.kind, cause=self.cause or self.reason)

    def consequences(self) -> tuple[str, str]:
        """Return the effect and the advice, as two lines."""
        advice = say("breaks.advice_line", text=self.advice)
        return say("breaks.effect", text=self.effect), advice


@dataclass(frozen=True)
class Recompilation(_Placed):
    """A function that was compiled again because a value had changed."""

    cause: str
    """The expression that changed: ``"n"``, ``"x.shape[0]"``, ``"self.training"``."""
    before: str
    """The value for which the previous version was compiled; empty if it is not a simple value."""
    now: str
    """The current value; empty if unknown."""
    function: str

    @property
    def advice(self) -> str:
        """What to do."""
        return say("breaks.recompiled_advice")

    def __str__(self) -> str:
        change = change_text(self.cause, self.before, self.now)
        return say("breaks.recompiled", function=self.function, line=self.line, change=change)


def change_text(cause: str, before: str, now: str) -> str:
    """Return what changed, as part of a sentence."""
    key = "changed" if before and now else "changed_from" if before else "changed_other"
    return say(f"breaks.{key}", cause=cause, before=before, now=now)


@dataclass(frozen=True)
class BreakMap:
    """The graph breaks of a function; the result of :func:`paddle_lab.explain_static`."""

    function: str
    """The function's name."""
    breaks: list[Break] = field(default_factory=list)
    recompilations: list[Recompilation] = field(default_factory=list)
    pieces: int | None = None
    """How many compiled programs one call ran; None if unknown."""
    eager_ops: int | None = None
    """How many ops one call ran outside these programs, by Paddle's profiler; None if unknown."""
    error: str = ""
    """Why the examination of the function is incomplete; empty if it is complete."""
    has_small_pieces: bool = False
    """Whether Paddle ran pieces eagerly because they have too few ops to be compiled."""

    def __repr__(self) -> str:
        lines = [*self._head()]
        for one in self.breaks:
            lines += [f"  {one}", *(f"    {line}" for line in one.consequences())]
        return "\n".join([*lines, *self._changes()])

    def _repr_html_(self) -> str:
        # A list fits every width. A table with advice and code is cut in a narrow window.
        items = [
            "<br>".join(map(sentence_html, (str(one), *one.consequences()))) for one in self.breaks
        ]
        told = [f"<p>{sentence_html(line)}</p>" for line in self._head()]
        breaks = f"<ol><li>{'</li><li>'.join(items)}</li></ol>" if items else ""
        changes = [f"<p>{sentence_html(line.strip())}</p>" for line in self._changes()]
        return "".join([*told, breaks, *changes])

    def _head(self) -> Iterator[str]:
        if self.breaks:
            yield say("breaks.found", n=len(self.breaks), function=self.function)
        elif not self.error:
            if self.pieces != 0:
                yield say("breaks.none", function=self.function)
            else:
                yield say("breaks.none_ran")
        if self.pieces is not None:
            key = "pieces" if self.eager_ops is None else "cost"
            yield say(f"breaks.{key}", pieces=self.pieces, eager_ops=self.eager_ops)
        if self.has_small_pieces:
            yield say("breaks.too_small")
        if self.error:
            yield self.error

    def _changes(self) -> Iterator[str]:
        for one in self.recompilations:
            yield f"  {one}"
        if self.recompilations:
            yield f"    {say('breaks.advice_line', text=self.recompilations[0].advice)}"
