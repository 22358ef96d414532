"""The file with a saved model's source lines: ``model.lines`` next to ``model.json``.

The file is JSON. It has the stack of each op of the model, in order, and the text of the lines, so
that another machine can show them. A digest identifies the model file to which the lines belong.
The file name must not end in ``.json``, because ``paddle.jit.load`` would read it as a program.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from paddle_lab.programs.packed import StackNumbers, stacks_in
from paddle_lab.programs.program import Program, Source
from paddle_lab.trace.file import write_atomically
from paddle_lab.version import __version__
from paddle_lab.words import say

_FORMAT: Final = "paddle_lab.lines"
_VERSION: Final = 1


def lines_path(model: Path) -> Path:
    """Return the path of the file with the lines of a ``model.json``."""
    return model.with_name(f"{model.name.removesuffix('.json')}.lines")


def _digest(model: Path) -> str:
    return hashlib.sha256(model.read_bytes()).hexdigest()


def write_lines(program: Program, model: Path) -> Path:
    """Write the lines of a program next to the model that was saved from it; return the path.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    stacks = StackNumbers()
    ops = [stacks[op.stack] for op in program.forward.walk()]
    document = {
        "format": _FORMAT,
        "version": _VERSION,
        "written_by": f"paddle_lab/{__version__}",
        "digest": _digest(model),
        "ops": ops,
        **stacks.document(),
        "sources": program.sources,
        "paths": program.paths,
    }
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return write_atomically(lines_path(model), text.encode("utf-8", "replace"))


def add_lines(program: Program, model: Path) -> str:
    """Add the lines in the file next to a saved program, if there is such a file.

    Returns
    -------
    str
        A sentence that says why no lines were added; ``""`` if they were, or if there is no file.
    """
    path = lines_path(model)
    try:
        document: Any = json.loads(path.read_bytes())
        if document["format"] != _FORMAT:
            return say("notices.lines.foreign", path=path.name)
        if document["version"] != _VERSION:
            return say("notices.lines.newer", path=path.name)
        if document["digest"] != _digest(model):
            return say("notices.lines.other_model", path=path.name, model=model.name)
        stacks = stacks_in(document)
        sources = [
            Source(str(row[0]), int(row[1]), str(row[2]), int(row[3]))
            for row in document["sources"]
        ]
        paths = {str(name): str(at) for name, at in document["paths"].items()}
        told = [stacks[at] for at in document["ops"]]
    except FileNotFoundError:
        return ""
    except OSError:
        return say("notices.lines.unreadable", path=path.name)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return say("notices.lines.damaged", path=path.name)
    for op, stack in zip(program.forward.walk(), told, strict=False):
        op.stack = stack
    program.sources, program.paths = sources, paths
    return ""
