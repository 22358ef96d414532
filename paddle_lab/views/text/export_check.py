"""The result of an export check, as text and HTML."""

from __future__ import annotations

import linecache
from dataclasses import dataclass, field
from pathlib import Path

from paddle_lab.analysis.source.stacks import place
from paddle_lab.analysis.tables.text_table import html_table, sentence_html, text_table
from paddle_lab.words import say


@dataclass(frozen=True)
class Blocker:
    """A line that prevents an export, or after which the exported model's results differ."""

    kind: str
    file: str
    line: int
    said: str = ""
    """Paddle's message, in one line."""
    cell: int | None = None
    """The cell, if the file is a notebook cell; ``None`` for other files."""

    @property
    def cause(self) -> str:
        """Why this line prevents the export."""
        return say(f"export.{self.kind}.cause", said=self.said)

    @property
    def advice(self) -> str:
        """What to write instead."""
        return say(f"export.{self.kind}.advice")

    @property
    def source(self) -> str:
        """The source of the line; empty if the file does not exist any more."""
        return linecache.getline(self.file, self.line).strip()

    def __repr__(self) -> str:
        where = place(self.file, self.line, self.cell)
        lines = (f"{where}  {self.source}", self.cause, self.advice)
        return "\n    ".join(lines)


@dataclass(frozen=True)
class Stage:
    """One way to run the model, compared with the eager run."""

    name: str
    ran: bool
    max_abs: float | None
    """The largest absolute difference; ``None`` if there is nothing to compare."""
    max_rel: float | None
    """The same, relative to the largest number of the output."""
    differs: bool
    """Whether the difference is larger than rounding explains."""
    error: str

    @property
    def title(self) -> str:
        """The name of the stage for users."""
        return say(f"export.stage.{self.name.replace('_', '-')}")

    def row(self) -> tuple[str, str, str, str]:
        """Return the cells of the stage's row in a table."""
        numbers = ["" if one is None else f"{one:.3g}" for one in (self.max_abs, self.max_rel)]
        told = say("export.result.not_run")
        if self.ran:
            told = say("export.result.differs" if self.differs else "export.result.ran")
            told = self.error.strip().splitlines()[-1] if self.error.strip() else told
        return (self.title, *numbers, told)  # type: ignore[return-value]


@dataclass(frozen=True)
class FrozenDimension:
    """An open dimension for which the exported model accepts only one size."""

    input: str
    axis: int
    said: str
    """What happens with another size."""


@dataclass(frozen=True)
class ExportCheck:
    """The result of :func:`paddle_lab.check_export`. A notebook shows it as tables."""

    title: str
    blockers: list[Blocker] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    frozen: list[FrozenDimension] = field(default_factory=list)
    is_random: bool = False
    """Whether outputs depend on Paddle's random numbers: then they are not compared."""
    is_evaluated: bool = False
    """Whether the layer is in training mode, while the exported model runs in evaluation mode."""

    unchecked: str = ""
    """Why nothing could be checked; empty if the check ran."""

    @property
    def ok(self) -> bool:
        """Whether the model can be exported and the exported model returns the same results."""
        return not self.blockers and not self.frozen and not self.unchecked and all(
            stage.ran and not stage.error and not stage.differs for stage in self.stages
        )  # fmt: skip

    @property
    def first_difference(self) -> str:
        """The first stage that fails or whose outputs differ from eager; empty if there is none."""
        names = (stage.name for stage in self.stages if stage.error or stage.differs)
        return next(names, "")

    def _sentences(self) -> list[str]:
        told = [self.verdict]
        if self.is_evaluated:
            told.append(say("export.evaluated"))
        told += [
            say("export.frozen", input=one.input, axis=one.axis, said=one.said)
            for one in self.frozen
        ]
        return told

    @property
    def verdict(self) -> str:
        """The result as a sentence."""
        if self.unchecked:
            return say("export.verdict.unchecked", title=self.title, reason=self.unchecked)
        if any(one.kind != "different-result" for one in self.blockers):
            return say("export.verdict.blocked", title=self.title, n=len(self.blockers))
        if self.ok:
            is_open = self.is_random and not self.is_evaluated
            return say(f"export.verdict.{'random' if is_open else 'ok'}", title=self.title)
        stage = next((one for one in self.stages if one.error or one.differs), None)
        if stage is None:
            return say("export.verdict.frozen", title=self.title)
        key = "failed" if stage.error else "differs"
        return say(f"export.verdict.{key}", title=self.title, stage=stage.title)

    def _header(self) -> list[str]:
        return [say(f"export.column.{name}") for name in ("stage", "max_abs", "max_rel", "result")]

    def __repr__(self) -> str:
        told = [*self._sentences(), *map(repr, self.blockers)]
        if any(stage.ran for stage in self.stages):
            rows = [stage.row() for stage in self.stages]
            told.append(text_table(self._header(), rows, numbers=(1, 2)))
        return "\n".join(told)

    def _repr_html_(self) -> str:
        told = "".join(f"<p>{sentence_html(one)}</p>" for one in self._sentences())
        if self.blockers:
            header = [
                say(f"export.column.{name}") for name in ("line", "source", "cause", "advice")
            ]
            rows = [
                (place(one.file, one.line, one.cell), f"`{one.source}`", one.cause, one.advice)
                for one in self.blockers
            ]
            told += html_table(header, rows, numbers=())
        if any(stage.ran for stage in self.stages):
            told += html_table(self._header(), [one.row() for one in self.stages], numbers=(1, 2))
        return told

    def to_html(self, path: str | Path) -> None:
        """Write a page without scripts."""
        from paddle_lab.views.html.page import plain_page

        Path(path).write_text(plain_page(self._repr_html_(), self.title), encoding="utf-8")
