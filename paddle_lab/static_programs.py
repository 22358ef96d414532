"""``paddle_lab.program``: the ops of a static program, as a trace of what Paddle compiles."""

from __future__ import annotations

from pathlib import Path

from paddle_lab.api import PathLike, Trace


def program(source: PathLike) -> Trace:
    """Return the graph of a static program. Nothing of it runs.

    Parameters
    ----------
    source
        The ``model.json`` that ``paddle.jit.save`` wrote. Paddle need not be installed.

    Returns
    -------
    Trace
        Its ops, with groups for layers and for the blocks of ``if`` and ``while``. Parameters,
        inputs, constants and outputs are tensors, no ops.

    Raises
    ------
    TraceFileError
        If the file is no program of Paddle's, or is damaged.
    OSError
        If there is no such file, or it cannot be read.
    """
    from paddle_lab.programs.saved_model import read_model

    return Trace(read_model(Path(source)))
