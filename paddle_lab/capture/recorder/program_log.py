"""The compiled programs that ran: how many ops they have, what they read, how often they ran."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from paddle_lab.capture.tables.row_keys import RecordKeys
from paddle_lab.trace.schema import PROGRAM_KINDS
from paddle_lab.trace.table import StringPool, TableBuilder

FULL_GRAPH, SOT, EXECUTOR = range(len(PROGRAM_KINDS))

_PARAMETER: Final = "builtin.parameter"
_NO_COMPUTATION: Final = ("pd_op.data", "pd_op.feed", "pd_op.fetch", "feed", "fetch")


class Counts(NamedTuple):
    """Counts of a program's ops and parameters."""

    ops: int
    """Ops that compute something."""
    all_ops: int
    """``len(program.global_block().ops)``: parameters, inputs and outputs are ops, too."""
    parameters: int


NOTHING: Final = Counts(0, 0, 0)
NO_PROGRAM: Final = -1


class Run(NamedTuple):
    """A program that ran."""

    program: Any
    """The object of the program, the same in each run."""
    forward: Any
    backward: Any
    parameters: list[Any]
    """The parameters, as tensors of the traced code."""
    feeds: str = ""
    fetches: str = ""
    place: str = ""


class ProgramLog:
    """The programs that ran in one trace."""

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []
        """Op, kind, and the other columns of the table in their order."""
        # Programs are held while the trace is recorded, so that their identities stay unique.
        self._known: dict[int, tuple[Any, int, Counts, Counts]] = {}

    def note(self, op: int, kind: int, runs: Iterable[Run]) -> None:
        """Note the programs that an op ran. If it ran none, that is noted, too."""
        rows = len(self.rows)
        for run in runs:
            known = self._known.get(id(run.program))
            if known is None:
                number = len(self._known)
                known = run.program, number, counts_of(run.forward), counts_of(run.backward)
                self._known[id(run.program)] = known
            _, number, forward, backward = known
            counts = (*forward[:2], *backward[:2], forward.parameters)
            self.rows.append((op, kind, number, *counts, run.feeds, run.fetches, run.place))
        if len(self.rows) == rows:
            self.rows.append((op, kind, NO_PROGRAM, 0, 0, 0, 0, 0, "", "", ""))

    def forget(self, ops: frozenset[int]) -> None:
        """Forget the programs of ops that the trace does not keep."""
        self.rows = [row for row in self.rows if row[0] not in ops]

    def add_rows(self, builder: TableBuilder, strings: StringPool, keys: RecordKeys) -> None:
        """Fill the table ``programs``."""
        for op, *numbers, feeds, fetches, place in self.rows:
            texts = (strings[text] for text in (feeds, fetches, place))
            builder.append(keys.ops.row(op), *numbers, *texts)


def counts_of(program: Any) -> Counts:
    """Return the counts of a program; zeros if it is no program or cannot be read."""
    try:
        ops = program.global_block().ops
        names = [op.name() if callable(getattr(op, "name", None)) else op.type for op in ops]
    except Exception:  # noqa: BLE001  (another version's program: its counts are not known)
        return NOTHING
    computing = [
        name
        for name in names
        if name not in _NO_COMPUTATION and not name.startswith(("builtin.", "cf."))
    ]
    return Counts(len(computing), len(names), names.count(_PARAMETER))
