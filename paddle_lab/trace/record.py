"""The record of a trace: tables, strings, and facts about the whole run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_lab.trace.schema import RECORD_TABLES
from paddle_lab.trace.table import Table

if TYPE_CHECKING:
    import numpy.typing as npt


class TraceFileError(ValueError):
    """A file cannot be opened as a trace. The message says why and what to do."""


@dataclass
class Origin:
    """The origin of a record. All fields are optional facts for users; no code interprets them."""

    title: str = ""
    """What was traced: ``"Cell 4"``, or the ``with`` statement's file and line."""
    created: str = ""
    """The time at which the trace began, in ISO 8601 with the offset from UTC."""
    paddle: str = ""
    python: str = ""
    paddle_lab: str = ""
    device: str = ""
    duration_ns: int = 0
    exception: str = ""
    """``"ValueError: …"`` if the traced code raised."""
    stopped_file: str = ""
    """The file of the user's line that raised, or the kernel's name for the cell."""
    stopped_line: int = 0
    """The line, from 1; 0 if none is known."""
    stopped_cell: int = -1
    """Execution count of the notebook cell, -1 for a file."""
    notices: list[str] = field(default_factory=list)
    """Sentences about what the trace could not record."""
    checks: list[str] = field(default_factory=list)
    """The kinds of findings that the trace was recorded for."""
    kept: str = ""
    """Which ops the record keeps, if more ran (:data:`~paddle_lab.trace.limit.Keep`)."""
    language: str = ""
    """The language of the views, ``"en"`` or ``"zh"``."""

    def __post_init__(self) -> None:
        self.title = _encodable(self.title)
        self.exception = _encodable(self.exception)
        self.stopped_file = _encodable(self.stopped_file)


@dataclass
class Record:
    """Tables by name (:data:`~paddle_lab.trace.schema.RECORD_TABLES`), and the strings in them."""

    tables: dict[str, Table]
    strings: list[str]
    origin: Origin
    grad_values: dict[int, npt.NDArray[Any]] = field(default_factory=dict)
    """Maps a row of ``grad_stats`` to the gradient itself, if requested; never saved."""
    kept_values: dict[int, npt.NDArray[Any]] = field(default_factory=dict)
    """Maps a row of ``tensors`` to its values, if ``digest=`` named its part. A file has them in
    tables."""

    def __post_init__(self) -> None:
        try:
            "".join(self.strings).encode()
        except UnicodeEncodeError:
            self.strings = [_encodable(text) for text in self.strings]

    def __getattr__(self, name: str) -> Table:
        tables: dict[str, Table] = self.__dict__.get("tables", {})
        if name in tables:
            return tables[name]
        raise AttributeError(name)

    def text(self, code: int) -> str:
        """Return the string that has this code."""
        return self.strings[code]

    @property
    def is_concurrent(self) -> bool:
        """Whether threads called ops alternately. Then the order of ops may differ between runs.

        The order is fixed if each other thread ends before the first thread continues.
        """
        threads = self.ops["thread"]
        turns = threads[1:][np.diff(threads) != 0].tolist()
        others = [thread for thread in turns if thread != threads[0]]
        return len(others) != len(set(others))

    @classmethod
    def empty(cls) -> Record:
        """Return a record without ops."""
        tables = {name: Table.empty(schema) for name, schema in RECORD_TABLES.items()}
        return cls(tables, [""], Origin())


def _encodable(text: str) -> str:
    """Return the text without lone surrogates, which files, pages and messages cannot contain.

    Python makes lone surrogates for file names that are not UTF-8.
    """
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
