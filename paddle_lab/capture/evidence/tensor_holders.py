"""Finds what holds tensors that the same line made repeatedly: ``tensor_holders``.

The search follows all references from variables, which takes milliseconds. It runs only if several
such tensors are alive when the trace ends, which is rare.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from traceback import walk_stack
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_lab.capture.recorder.tensors import ACTIVATION
from paddle_lab.capture.tables.row_keys import RecordKeys
from paddle_lab.holders.frames import open_call
from paddle_lab.holders.roots import Root, is_user_file, module_roots, variable_roots
from paddle_lab.holders.search import HolderSearch
from paddle_lab.trace.table import StringPool, Table, TableBuilder
from paddle_lab.trace.trees import nearest_marked

if TYPE_CHECKING:
    from paddle_lab.capture.recorder.recorder import Recorder

_FEWEST = 3
"""The search runs only if at least this many living tensors were made at one stack."""
_BUDGET_S = 0.3


def add_tensor_holders(
    recorder: Recorder,
    builder: TableBuilder,
    strings: StringPool,
    tables: dict[str, Table],
    keys: RecordKeys,
    caller: FrameType | None,
) -> None:
    """Fill ``tensor_holders``.

    Parameters
    ----------
    tables
        The record's ``tensors`` and ``ops``.
    caller
        The call that ended the trace. Variables of this call and of its callers may hold tensors.
    """
    living = recorder.tensors.living()
    rows = keys.tensors.rows(np.array([key for _, key in living], np.int64))
    wanted = _made_at_one_stack(rows, tables)
    sought = {
        id(tensor): row
        for (tensor, _), row in zip(living, rows.tolist(), strict=True)
        if row in wanted
    }
    if not sought:
        return
    kinds = {type(tensor) for tensor, _ in living}
    search = HolderSearch(kinds.__contains__, excluded=[living, sought], budget_s=_BUDGET_S)
    search.walk(_variables(caller))
    search.walk(module_roots(libraries=False))
    for holding in search.holdings:
        row = sought.get(id(holding.target), -1)
        if row >= 0:
            builder.append(row, strings[holding.name])


def _made_at_one_stack(rows: Any, tables: dict[str, Table]) -> frozenset[int]:
    """Return the living tensors that were made at the same stack, if there are several."""
    tensors, stacks = tables["tensors"], tables["ops"]["stack"]
    rows = rows[rows >= 0]
    rows = rows[tensors["kind"][rows] == ACTIVATION]
    producer, detached_from = tensors["producer"], tensors["detached_from"]
    is_source = (producer >= 0) | (detached_from < 0)
    source = nearest_marked(detached_from, is_source)[rows]
    rows, made = rows[producer[source] >= 0], producer[source]
    _, group, count = np.unique(stacks[made[made >= 0]], return_inverse=True, return_counts=True)
    return frozenset(rows[count[group] >= _FEWEST].tolist())


def _variables(caller: FrameType | None) -> Iterator[Root]:
    """Yield the variables of each call, then of its module, and finally of the notebook."""
    met: set[int] = set()
    for frame, _ in walk_stack(caller) if caller is not None else ():
        namespace = frame.f_globals
        is_ours = str(namespace.get("__name__")).startswith("paddle_lab.")
        if is_ours or not is_user_file(frame.f_code.co_filename):
            continue
        if frame.f_locals is not namespace:
            for name, value in open_call(frame).variables.items():
                yield Root("variable", name, value)
        if id(namespace) not in met:
            met.add(id(namespace))
            yield from variable_roots(namespace)
    main = sys.modules.get("__main__")
    if main is not None and id(vars(main)) not in met:
        yield from variable_roots(vars(main))
