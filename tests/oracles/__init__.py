"""What Paddle itself reports about a run: traces are compared with it.

Nothing here depends on how a trace is made. :func:`api_log` reads Paddle's own log of eager ops and
grad nodes, :func:`stack_dump` its stacks, :func:`read_backward_dump` the files of
``dump_backward_graph_path``; :func:`walk_backward` follows ``next_functions``; :func:`explain` says
where a list of calls and a log differ. :class:`Bindings` remembers the names that a trace rebinds.
"""

from __future__ import annotations

from tests.oracles.api_log import ApiLog, LoggedOp, api_log, paddle_api_log
from tests.oracles.backward_dump import BackwardDump, read_backward_dump
from tests.oracles.bindings import Bindings
from tests.oracles.grad_walk import GradWalk, walk_backward
from tests.oracles.op_names import Call, Disagreement, explain
from tests.oracles.stack_dump import DumpedFrame, StackDump, stack_dump

__all__ = [
    "ApiLog",
    "BackwardDump",
    "Bindings",
    "Call",
    "Disagreement",
    "DumpedFrame",
    "GradWalk",
    "LoggedOp",
    "StackDump",
    "api_log",
    "explain",
    "paddle_api_log",
    "read_backward_dump",
    "stack_dump",
    "walk_backward",
]
