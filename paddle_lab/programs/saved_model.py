"""A saved model as a record: its program, and the lines that are kept beside it."""

from __future__ import annotations

from pathlib import Path

from paddle_lab.programs.pir_json import read_program
from paddle_lab.programs.program import Frame
from paddle_lab.programs.record import record_of
from paddle_lab.trace.record import Origin, Record
from paddle_lab.trace.schema import FRAME_KINDS
from paddle_lab.version import __version__


def read_model(path: Path) -> Record:
    """Return the record of a saved model.

    Raises
    ------
    TraceFileError
        If the file is no program of Paddle's, or is damaged.
    OSError
        If there is no such file, or it cannot be read.
    """
    program, _ = read_program(path)
    origin = Origin(title=path.name, paddle_lab=__version__)
    own = (Frame(str(path), 1, "", FRAME_KINDS.index("user")),)
    for op in program.forward.walk():
        op.stack = op.stack or own
    return record_of(program, origin)
