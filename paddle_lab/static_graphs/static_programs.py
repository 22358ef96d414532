"""Static programs (``paddle_lab.program``), and source lines beside a model (``save_lines``)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from paddle_lab.api import PathLike, Trace
from paddle_lab.garbage import collection_paused
from paddle_lab.trace.record import Origin
from paddle_lab.version import __version__


def program(source: Any, *inputs: Any) -> Trace:
    """Return the graph of a static program, without running the program.

    Parameters
    ----------
    source
        The path of a ``model.json`` that ``paddle.jit.save`` wrote (Paddle is not needed for this);
        or a layer, a function, the result of ``to_static``, or a ``paddle.static.Program``.
    inputs
        The arguments of the layer or function: tensors and other values, or
        ``paddle.static.InputSpec``. The program is built for these arguments.

    Returns
    -------
    Trace
        The ops of the program, with groups for layers and for the blocks of ``if`` and ``while``.
        Parameters, inputs, constants and outputs are tensors, not ops. For a model in training mode
        the trace also has the grad nodes of the backward. If :func:`save_lines` wrote the source
        lines of the model, they are read, too.

    Raises
    ------
    TraceFileError
        If the file is not a program of Paddle's, or is damaged.
    OSError
        If there is no such file, or the file cannot be read.
    PaddleUnavailableError
        For a layer or a function, if there is no PaddlePaddle, or one older than 3.3.
    """
    if isinstance(source, str | os.PathLike):
        from paddle_lab.programs.saved_model import read_model

        with collection_paused():
            return Trace(read_model(Path(source)))
    from paddle_lab.capture.static.building import built_program, eager_function
    from paddle_lab.notebook_cells import running_cells
    from paddle_lab.programs.record import record_of

    built = built_program(source, inputs, running_cells())
    named = eager_function(source)
    title = getattr(named, "__qualname__", "") or type(named).__qualname__
    return Trace(record_of(built, Origin(title=title, paddle_lab=__version__)))


def save_lines(layer: Any, path: PathLike) -> Path:
    """Write a file with the source lines of a saved model, so that views show the line of each op.

    The new file, ``model.lines`` next to ``model.json``, has the stacks of all ops and the text of
    their lines. :func:`program` can read it on any machine. Paddle builds the program again, so
    this function takes as long as ``paddle.jit.save``. In a traced cell, ``paddle.jit.save`` writes
    the file automatically, without building the program again.

    Parameters
    ----------
    layer
        The layer that was passed to ``paddle.jit.save``.
    path
        The path that was passed to ``paddle.jit.save``; with ``.NAME`` for a static method other
        than ``forward``.

    Returns
    -------
    Path
        The path of the new file.

    Raises
    ------
    TraceFileError
        If there is no such model, or the model is damaged.
    ValueError
        If the saved model is not the one that the layer would save.
    OSError
        If the file cannot be written.
    """
    from paddle_lab.capture.static.exporting import save_lines as write
    from paddle_lab.notebook_cells import running_cells

    return write(layer, Path(path), running_cells())
