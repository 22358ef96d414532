"""Reads Paddle's log from a file, and finds the op or grad node that each entry names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from paddle_lab.trace.log_text import LogEntries

_BEGINS: Final = re.compile(r"=+Running_AD_API: ")
_ENDS: Final = re.compile(r"=+Finish_AD_API: ")
_UNIQUE: Final = re.compile(r"=+Running_C\+\+_API: (\w+)=")
_NODE: Final = re.compile(r"(\S+)\(0x([0-9a-f]+)\) (?:Preparing|begin run)")
_BACKWARD_ENDS: Final = re.compile(r"=+RunBackward: Finish Backward")
_INFO: Final = re.compile(
    r"\s*Forward Debug Info \{\s*API_Name: (\w+)\s+Input: (.*?)Output: ", re.DOTALL
)
_TENSOR: Final = re.compile(r"\{\n(\t+)Name: ([^,\s]+),")
_DTYPE: Final = re.compile(r"Dtype: (\w+)")
_SHAPE: Final = re.compile(r"Shape: ([\d, ]*),")
_UNNAMED: Final = "None"


LoggedTensor = tuple[str, str, str]
"""The unique name, the dtype and the shape, ``""`` if the log level was too low to have it."""


def logged_ops(log: LogEntries) -> Iterator[tuple[str, list[LoggedTensor], list[LoggedTensor]]]:
    """Return each op whose tensors the log names, with its inputs and outputs."""
    for text in log.text:
        if info := _INFO.match(text):
            yield info[1], _tensors(info[2]), _tensors(text[info.end() :])


def _tensors(text: str) -> list[LoggedTensor]:
    found = list(_TENSOR.finditer(text))
    # A tensor with more indentation is the gradient of another tensor.
    found = [one for one in found if len(one[1]) == len(found[0][1]) and one[2] != _UNNAMED]
    ends = [*(one.start() for one in found[1:]), len(text)]
    tensors = []
    for one, end in zip(found, ends, strict=False):
        said = text[one.end() : end]
        dtype, shape = _DTYPE.search(said), _SHAPE.search(said)
        extents = f"[{shape[1]}]" if shape else ""
        tensors.append((one[2], dtype[1] if dtype else "", extents))
    return tensors


def _named_ops(texts: list[str], ops: Mapping[str, int]) -> list[int]:
    """Return the op that each entry names, -1 for none. Some ops log only such entries."""
    return [ops.get(info[1], -1) if (info := _INFO.match(text)) else -1 for text in texts]


def log_rows(
    log: LogEntries, ops: Mapping[str, int], nodes: Mapping[tuple[str, int], int]
) -> Iterator[dict[str, Any]]:
    """Return the cells of the table ``log``.

    Parameters
    ----------
    log
        The entries of one process.
    ops
        Maps the unique name of each op to its row.
    nodes
        Maps the name and the pointer of each grad node to its row.
    """
    op, node = _named_ops(log.text, ops), [-1] * len(log.text)
    begun: dict[int, int] = {}
    running: dict[int, int] = {}
    threads: dict[int, int] = {}
    for entry, (thread, text) in enumerate(zip(log.native_thread.tolist(), log.text, strict=True)):
        threads.setdefault(thread, len(threads))
        node[entry] = running.get(thread, -1)
        if found := _NODE.match(text):
            running[thread] = node[entry] = nodes.get((found[1], int(found[2], 16)), -1)
        elif _BACKWARD_ENDS.match(text):
            running[thread] = node[entry] = -1
        elif _BEGINS.match(text):
            begun[thread] = entry
        elif thread in begun and (found := _UNIQUE.match(text)):
            op[begun[thread]] = ops.get(found[1], -1)
        elif thread in begun and _ENDS.match(text):
            # The unique name comes after the op's first entry. All entries in between belong to the
            # op.
            first = begun.pop(thread)
            for at in range(first, entry + 1):
                if log.native_thread[at] == thread:
                    op[at], node[at] = op[first], -1 if op[first] >= 0 else node[at]
    start_ns = int(log.wall_ns[0]) if len(log.text) else 0
    for entry, text in enumerate(log.text):
        yield {
            "op": op[entry],
            "grad_node": node[entry],
            "thread": threads[int(log.native_thread[entry])],
            "time_ns": int(log.wall_ns[entry]) - start_ns,
            "severity": log.severity[entry],
            "source_file": log.file[entry],
            "source_line": int(log.line[entry]),
            "text": text,
        }
