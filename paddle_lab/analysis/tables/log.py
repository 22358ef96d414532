"""``trace.log``: Paddle's own log, each entry under the op or grad node that wrote it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.graph.trees import Keys, taken
from paddle_lab.analysis.source.stacks import Frame, Placed
from paddle_lab.analysis.tables import cells
from paddle_lab.analysis.tables.columns import Partial, Values
from paddle_lab.analysis.tables.data_frames import Framed
from paddle_lab.analysis.tables.ops import Op, OpTable
from paddle_lab.analysis.tables.rows import RecordRow, RowTable
from paddle_lab.analysis.tables.text_table import ROWS_SHOWN, Report, Reported, header
from paddle_lab.words import say


class LogEntry(RecordRow, Placed):
    """One entry of the log; a view of its row."""

    __slots__ = ("_table",)
    _table_name = "log"

    def __init__(self, table: LogTable, key: int) -> None:
        super().__init__(table.record, key)
        self._table = table

    grad_node = cells.optional(doc="Row of the grad node that was running; None outside of them.")
    thread = cells.number(doc="Number of the thread, as in ``trace.ops``; -1 if no op ran in it.")
    time_ns = cells.number(doc="Time since the trace began, to a microsecond.")
    level = cells.number(doc="The level that was set then; the entry's own may be lower.")
    severity = cells.text(doc='``"I"``, ``"W"``, ``"E"`` or ``"F"``.')
    source_file = cells.text(doc='Paddle\'s source file: ``"backward.cc"``.')
    source_line = cells.number(doc="The line in it.")
    text = cells.text(doc="What was written; it may have several lines.")

    @property
    def op(self) -> Op | None:
        """The op that was running; for a grad node the op that made it. None outside of them."""
        key = int(self._table.op_keys[self.key])
        return self._table.ops[key] if key >= 0 else None

    @property
    def name(self) -> str:
        """Name of the grad node or op, ``""`` outside of them."""
        return str(self._table.names(np.array([self.key]))[0])

    @property
    def frame(self) -> Frame | None:
        """The innermost frame of the user's code that called the op."""
        return self.op.frame if self.op else None

    def __repr__(self) -> str:
        first = self.text.strip().partition("\n")[0]
        return f"<LogEntry {self.key}: {self.name}, {self.source_file}:{self.source_line}] {first}>"


class LogTable(Reported, Framed, RowTable[LogEntry]):
    """Paddle's log in the order in which it was written; empty unless ``log=`` is given."""

    _table_name = "log"
    _asked_as = "trace.log.to_pandas()"
    _index = "entry"

    def _row(self, key: int) -> LogEntry:
        return LogEntry(self, key)

    @cached_property
    def ops(self) -> OpTable:
        """The trace's ops."""
        return OpTable(self.record)

    @cached_property
    def op_keys(self) -> Keys:
        """The op of each entry of the log, or the op that made its grad node; -1 for none."""
        log = self.record.log
        makers = taken(self.record.grad_nodes["op"], log["grad_node"])
        return np.where(log["op"] < 0, makers, log["op"]).astype(np.int32)

    def names(self, keys: Keys) -> npt.NDArray[np.object_]:
        """Return the name of the grad node or op of each entry."""
        record = self.record
        op, node = record.log["op"][keys], record.log["grad_node"][keys]
        codes = np.where(
            node >= 0, taken(record.grad_nodes["name"], node), taken(record.ops["name"], op)
        )
        texts = np.array([*record.strings, ""], object)
        found: npt.NDArray[np.object_] = texts[codes]
        return found

    def search(self, text: str) -> LogTable:
        """Return the entries whose text, op, grad node or source file contains ``text``."""
        strings = [text.lower() in one.lower() for one in self.record.strings]
        log, found = self.record.log, np.array([*strings, False])
        names = [text.lower() in str(name).lower() for name in self.names(self.keys)]
        rows = (
            found[log["text"][self.keys]]
            | found[log["source_file"][self.keys]]
            | np.array(names, bool)
        )
        return self._with_keys(self.keys[rows])

    def of_op(self, op: int) -> LogTable:
        """Return the entries that an op wrote, and those of the grad nodes that it made."""
        return self._with_keys(self.keys[self.op_keys[self.keys] == op])

    def _columns(self) -> dict[str, Values]:
        record, keys = self.record, self.keys
        log = {name: column[keys] for name, column in record.log.columns.items()}
        texts = np.array([*record.strings, ""], object)
        op, node = self.op_keys[keys], log["grad_node"]
        return {
            "entry": keys,
            "name": self.names(keys),
            "op": Partial(op, op < 0),
            "grad_node": Partial(node, node < 0),
            "thread": log["thread"],
            "time_ns": log["time_ns"],
            "level": log["level"],
            "severity": texts[log["severity"]],
            "source_file": texts[log["source_file"]],
            "source_line": log["source_line"],
            "text": texts[log["text"]],
        }

    def _report(self) -> Report:
        if not len(self.record.log):
            return Report(say("reports.no_log"))
        rows = [
            (
                str(entry.key),
                entry.name,
                f"{entry.source_file}:{entry.source_line}",
                entry.text.replace("=", ""),
                entry.where,
            )
            for entry in self[:ROWS_SHOWN]
        ]
        names = header("reports", "entry", "name", "source", "text", "line")
        return Report(say("reports.log", n=len(self)), names, rows, row_count=len(self))
