"""``trace.log``: Paddle's own log. Each entry names the op or grad node that wrote it."""

from __future__ import annotations

import numpy as np

from paddle_lab.analysis.tables import cells
from paddle_lab.analysis.tables.columns import Values, optional
from paddle_lab.analysis.tables.op_rows import OpRow, OpRowTable
from paddle_lab.analysis.tables.text_table import ROWS_SHOWN, Report, header
from paddle_lab.words import say


class LogEntry(OpRow):
    """An entry of Paddle's log. It reads its data from a row of the table."""

    __slots__ = ()
    _table_name = "log"

    grad_node = cells.optional(doc="Row of the grad node that was running; None outside of them.")
    thread = cells.number(doc="Number of the thread, as in ``trace.ops``; -1 if no op ran in it.")
    time_ns = cells.number(doc="Time since the trace began, to a microsecond.")
    level = cells.number(doc="The level that was set then; the entry's own may be lower.")
    severity = cells.text(doc='``"I"``, ``"W"``, ``"E"`` or ``"F"``.')
    source_file = cells.text(doc='Paddle\'s source file: ``"backward.cc"``.')
    source_line = cells.number(doc="The line in it.")
    text = cells.text(doc="What was written; it may have several lines.")

    @property
    def name(self) -> str:
        """The name of the grad node or op that wrote the entry, ``""`` if none did."""
        return str(self._table.names(np.array([self.key]))[0])

    def __repr__(self) -> str:
        first = self.text.strip().partition("\n")[0]
        return f"<LogEntry {self.key}: {self.name}, {self.source_file}:{self.source_line}] {first}>"


class LogTable(OpRowTable[LogEntry]):
    """Paddle's log in the order in which it was written. It is empty without ``log=``."""

    _table_name = "log"
    _index = "entry"
    _row_type = LogEntry

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
        """Return the entries that an op wrote, and those that its grad nodes wrote."""
        return self._with_keys(self.keys[self.op_keys[self.keys] == op])

    def _columns(self) -> dict[str, Values]:
        record, keys = self.record, self.keys
        log = {name: column[keys] for name, column in record.log.columns.items()}
        texts = np.array([*record.strings, ""], object)
        return {
            "entry": keys,
            "name": self.names(keys),
            "op": optional(self.op_keys[keys]),
            "grad_node": optional(log["grad_node"]),
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
