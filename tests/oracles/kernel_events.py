"""Kernels in Paddle's own profiler: the event that contains each kernel in its tree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from paddle_lab.capture.memory.log.segments import Segment

OUTSIDE = ""
_OF_PYTHON = " pybind_"
_OF_OPS = " dygraph"
_OF_GRAD_NODES = "Global_"
_OF_PYLAYERS = "Global_GradNodePyLayer"
_KERNEL = " kernel launch"


class KernelEvent(NamedTuple):
    """One kernel of Paddle's."""

    wall_ns: int
    duration_ns: int
    caller: str
    """The innermost function that Python called around it, or else the grad node, or else the op:
    ``"softmax"``, ``"Global_AddGradNode"``; ``""`` for none."""
    call_ns: int
    """When the caller began, by which two callers of one name differ."""
    op: str
    """The innermost op around it, whatever called that: ``"matmul"``; ``""`` for none."""


def kernel_events(segments: Iterable[Segment]) -> list[KernelEvent]:
    """Return the kernels of all threads, by start."""
    found = []
    for segment in segments:
        for root in segment.result.get_data().values():
            pending: list[tuple[Any, str, int, str]] = [(root, OUTSIDE, 0, OUTSIDE)]
            while pending:
                node, caller, call_ns, op = pending.pop()
                name: str = node.name
                if name.endswith(_KERNEL):
                    took_ns = node.end_ns - node.start_ns
                    found.append(KernelEvent(node.start_ns, took_ns, caller, call_ns, op))
                    continue
                op = name.removesuffix(_OF_OPS) if name.endswith(_OF_OPS) else op
                # What calls C++ alone is one op, whatever ops are inside it.
                if _OF_PYTHON in name:
                    caller, call_ns = name.partition(_OF_PYTHON)[0], node.start_ns
                elif name.startswith(_OF_GRAD_NODES):
                    caller, call_ns = name, node.start_ns
                elif name.endswith(_OF_OPS) and (
                    caller == OUTSIDE or caller.startswith(_OF_PYLAYERS)
                ):
                    caller, call_ns = name.removesuffix(_OF_OPS), node.start_ns
                pending.extend((child, caller, call_ns, op) for child in node.children_node)
    return sorted(found)
