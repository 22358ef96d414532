"""Paddle's log in a file: each entry under the op or grad node whose name the log itself says."""

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


def log_rows(
    log: LogEntries, ops: Mapping[str, int], nodes: Mapping[tuple[str, int], int]
) -> Iterator[dict[str, Any]]:
    """Return the cells of the table ``log``.

    Parameters
    ----------
    log
        The entries of one process.
    ops
        From the ops' unique names to their rows.
    nodes
        From the grad nodes' names and pointers to their rows.
    """
    op, node = [-1] * len(log.text), [-1] * len(log.text)
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
            # The unique name came after the first entry: all entries in between are the op's.
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
