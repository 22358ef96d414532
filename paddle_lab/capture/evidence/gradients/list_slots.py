"""Which grad nodes no post hook may be put on.

In Paddle 3.3 a post hook must return the node's gradients as one flat list of tensors. A node whose
op took a *list* of tensors (``concat``, ``stack``, ``einsum``, …) hands several gradients on from
one slot, which no flat list can say: whatever such a hook returns, the backward pass raises or the
process dies. So a node is left alone where its op was given several tensors in one argument, and
also by its name, for the ops of some graphs are not known: those from before the trace, and what
``paddle.grad`` makes in C++.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

# Ops of Paddle 3.3 that differentiate a list of tensors; a test holds this against its headers.
_TAKE_LISTS = re.compile(
    r"^(AddN|BroadcastTensors|CConcat|Concat|CudnnLstm|Einsum|Meshgrid|MultiDot|Multiplex"
    r"|PartialConcat|PartialSum|Rnn|RunCustomOp|Stack)(Double|Triple)?(GradNode|Node)"
)
# A list of whole numbers, or of sizes, has no gradient; its slot is handed on as a single one.
_TAKE_NUMBERS = re.compile(r"^(Index|[A-Za-z]*Interp|InterpAntialias)")
# These run no post hooks at all: leaves, PyLayers, programs of to_static, and old ops.
_SILENT = re.compile(r"^(GradNodeAccumulation|GradNodePyLayer|RunProgram|Dy2St)|Compat$")


def takes_post_hook(name: str, slots: Sequence[int]) -> bool:
    """Tell whether a post hook on a grad node is called and does no harm.

    Parameters
    ----------
    name
        The node's.
    slots
        Argument positions of the tensors its op was given; empty where the op is not known.
    """
    if not _by_name(name):
        return False
    return len(set(slots)) == len(slots) or _TAKE_NUMBERS.match(name) is not None


@lru_cache(maxsize=1024)
def _by_name(name: str) -> bool:
    return not (_SILENT.search(name) or _TAKE_LISTS.match(name))
