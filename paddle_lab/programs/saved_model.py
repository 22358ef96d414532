"""Reads a saved model as a record: the program, and the source lines next to the model."""

from __future__ import annotations

from pathlib import Path

from paddle_lab.programs.lines import add_lines
from paddle_lab.programs.pir_json import NEWEST_VERSION, read_program
from paddle_lab.programs.record import record_of
from paddle_lab.trace.record import Origin, Record
from paddle_lab.trace.row_writer import Frame
from paddle_lab.trace.schema import FRAME_KINDS
from paddle_lab.version import __version__
from paddle_lab.words import say


def read_model(path: Path) -> Record:
    """Return the record of a saved model.

    Raises
    ------
    TraceFileError
        If the file is not a program of Paddle's, or is damaged.
    OSError
        If there is no such file, or the file cannot be read.
    """
    program, version = read_program(path)
    notices = [add_lines(program, path)]
    if version > NEWEST_VERSION:
        notices.append(say("notices.program_newer", path=path.name))
    if not any(op.stack for op in program.forward.walk()):
        # Without source lines, all ops get the model's file as their place.
        own = (Frame(str(path), 1, "", FRAME_KINDS.index("user")),)
        for op in program.forward.walk():
            op.stack = own
    origin = Origin(title=path.name, paddle_lab=__version__, notices=list(filter(None, notices)))
    return record_of(program, origin)
