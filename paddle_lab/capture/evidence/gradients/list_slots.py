"""Finds the grad nodes that must not get a post hook.

In Paddle 3.3 a post hook must return the node's gradients as one flat list of tensors. A node whose
op took a *list* of tensors (``concat``, ``stack``, ``einsum``, …) passes several gradients through
one slot, which a flat list cannot express. Whatever such a hook returns, the backward pass raises
or the process dies. So a node gets no hook if its op got several tensors in one argument. The ops
of some nodes are not known: nodes from before the trace, and nodes that ``paddle.grad`` makes in
C++. So a node also gets no hook if its name is listed here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

# Ops of Paddle 3.3 that take lists of tensors with gradients. A test checks this with its headers.
_TAKE_LISTS = re.compile(
    r"^(AddN|BroadcastTensors|CConcat|Concat|CudnnLstm|Einsum|Meshgrid|MultiDot|Multiplex"
    r"|PartialConcat|PartialSum|Rnn|RunCustomOp|Stack)(Double|Triple)?(GradNode|Node)"
)
# Ops that take lists of integers or sizes, which have no gradients.
_TAKE_NUMBERS = re.compile(r"^(Index|[A-Za-z]*Interp|InterpAntialias)")
# Nodes that do not call post hooks: leaves, PyLayers, programs of to_static, and old ops.
_SILENT = re.compile(r"^(GradNodeAccumulation|GradNodePyLayer|RunProgram|Dy2St)|Compat$")


def takes_post_hook(name: str, slots: Sequence[int]) -> bool:
    """Tell whether Paddle calls a post hook on a grad node, and the hook is safe.

    Parameters
    ----------
    name
        The node's name.
    slots
        Argument positions of the op's input tensors; empty if the op is unknown.
    """
    if not _by_name(name):
        return False
    return len(set(slots)) == len(slots) or _TAKE_NUMBERS.match(name) is not None


@lru_cache(maxsize=1024)
def _by_name(name: str) -> bool:
    return not (_SILENT.search(name) or _TAKE_LISTS.match(name))
