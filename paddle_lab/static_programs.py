"""``paddle_lab.program`` and ``save_lines``: what Paddle compiles, and its lines beside a model."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from paddle_lab.api import PathLike, Trace
from paddle_lab.garbage import collection_paused
from paddle_lab.trace.record import Origin
from paddle_lab.version import __version__


def program(source: Any, *inputs: Any) -> Trace:
    """Return the graph of a static program. Nothing of it runs.

    Parameters
    ----------
    source
        The ``model.json`` that ``paddle.jit.save`` wrote, which needs no Paddle; or a layer, a
        function, what ``to_static`` returned, or a ``paddle.static.Program``.
    inputs
        What the layer or function is called with: tensors and other arguments, or
        ``paddle.static.InputSpec``. The program is built for them and then forgotten.

    Returns
    -------
    Trace
        Its ops, with groups for layers and for the blocks of ``if`` and ``while``. Parameters,
        inputs, constants and outputs are tensors, no ops. Of a model in training mode it also has
        the backward, as grad nodes. A model with lines beside it (:func:`save_lines`) opens them.

    Raises
    ------
    TraceFileError
        If the file is no program of Paddle's, or is damaged.
    OSError
        If there is no such file, or it cannot be read.
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
    """Write the lines of a saved model beside it, so that each of its ops opens its line.

    The new file, ``model.lines`` beside ``model.json``, has the stacks of all ops and the text
    of their lines. :func:`program` reads it on any machine. In a traced cell ``paddle.jit.save``
    writes it by itself.

    Parameters
    ----------
    layer
        What ``paddle.jit.save`` was given.
    path
        The path that ``paddle.jit.save`` was given.

    Returns
    -------
    Path
        The path of the new file.

    Raises
    ------
    TraceFileError
        If there is no such model, or it is damaged.
    ValueError
        If the model is not what the layer saves.
    OSError
        If the file cannot be written.
    """
    from paddle_lab.capture.static.exporting import save_lines as write
    from paddle_lab.notebook_cells import running_cells

    return write(layer, Path(path), running_cells())
