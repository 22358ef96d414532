"""Notes compiled programs that ran: their ops, the tensors they read, and how often they ran."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from paddle_lab.capture.recorder.faults import described
from paddle_lab.capture.stacks.source_texts import Cells
from paddle_lab.capture.static.live_program import ops_in, parameter_paths, read_live
from paddle_lab.capture.tables.row_keys import RecordKeys
from paddle_lab.programs.packed import pack
from paddle_lab.programs.program import computes
from paddle_lab.trace.schema import PROGRAM_KINDS
from paddle_lab.trace.table import StringPool, TableBuilder
from paddle_lab.words import say

FULL_GRAPH, SOT, EXECUTOR = range(len(PROGRAM_KINDS))

_PARAMETER: Final = "builtin.parameter"


class Counts(NamedTuple):
    """Counts of a program's ops and parameters."""

    ops: int
    """Ops that compute something, including those inside ``if`` and ``while``."""
    all_ops: int
    """``len(program.global_block().ops)``: parameters, inputs and outputs are ops, too."""
    parameters: int


NOTHING: Final = Counts(0, 0, 0)
NO_PROGRAM: Final = -1


class Run(NamedTuple):
    """A program that ran."""

    program: Any
    """The program object, which is the same in each run."""
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
        """Op, kind, and the other columns of the table in order."""
        self.eager_lines: set[tuple[str, int]] = set()
        """Lines that run eagerly in functions of ``to_static``."""
        # Programs are kept alive while the trace records, so that their ids stay unique.
        self._known: dict[int, tuple[Run, int, Counts, Counts]] = {}
        self._paths: dict[int, dict[str, str]] = {}

    def note(self, op: int, kind: int, runs: Iterable[Run], layer: Any = None) -> None:
        """Note the programs that an op ran, also if it ran none.

        Parameters
        ----------
        layer
            The layer whose function was compiled.
        """
        rows = len(self.rows)
        for run in runs:
            known = self._known.get(id(run.program))
            if known is None:
                number = len(self._known)
                # Of the user's objects only the program is kept alive.
                known = (
                    run._replace(parameters=[]),
                    number,
                    counts_of(run.forward),
                    counts_of(run.backward),
                )
                self._known[id(run.program)] = known
                self._paths[number] = {} if layer is None else parameter_paths([layer])
            _, number, forward, backward = known
            counts = (*forward[:2], *backward[:2], forward.parameters)
            self.rows.append((op, kind, number, *counts, run.feeds, run.fetches, run.place))
        if len(self.rows) == rows:
            self.rows.append((op, kind, NO_PROGRAM, 0, 0, 0, 0, 0, "", "", ""))

    def number_of(self, program: Any) -> int:
        """Return the number of a program that ran."""
        return self._known[id(program)][1] if id(program) in self._known else NO_PROGRAM

    def forget(self, ops: frozenset[int]) -> None:
        """Forget the programs of ops that the trace does not keep."""
        self.rows = [row for row in self.rows if row[0] not in ops]

    def add_texts(
        self, builder: TableBuilder, strings: StringPool, cells: Cells | None
    ) -> list[str]:
        """Fill the table ``program_texts`` with the programs of ops that the trace keeps.

        Returns
        -------
        list of str
            A sentence if a program could not be read, else nothing.
        """
        kept = {row[2] for row in self.rows}
        try:
            for run, number, *_ in self._known.values():
                if number in kept:
                    paths = self._paths[number]
                    program = read_live(run.forward, run.backward, cells=cells, paths=paths)
                    builder.append(number, strings[pack(program)])
        except Exception as fault:  # noqa: BLE001  (the ops are there all the same)
            return [say("notices.fault.programs_lost", fault=described(fault))]
        return []

    def add_rows(self, builder: TableBuilder, strings: StringPool, keys: RecordKeys) -> None:
        """Fill the table ``programs``."""
        for op, *numbers, feeds, fetches, place in self.rows:
            texts = (strings[text] for text in (feeds, fetches, place))
            builder.append(keys.ops.row(op), *numbers, *texts)

    def add_lines(self, builder: TableBuilder, strings: StringPool) -> None:
        """Fill the table ``program_lines``."""
        for file, line in sorted(self.eager_lines):
            builder.append(NO_PROGRAM, strings[file], line)


def counts_of(program: Any) -> Counts:
    """Return the counts of a program; zeros if the value is no program or cannot be read."""
    try:
        ops = program.global_block().ops
        names = [op.name() if callable(getattr(op, "name", None)) else op.type for op in ops]
    except Exception:  # noqa: BLE001  (another version's program: its counts are not known)
        return NOTHING
    computing = sum(computes(str(op.name())) for op in ops_in(program.global_block()))
    return Counts(computing, len(names), names.count(_PARAMETER))
