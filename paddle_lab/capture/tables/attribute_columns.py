"""The attributes of ops as text, computed once for each kind of call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from paddle_lab.capture.recorder.attributes import attribute_text
from paddle_lab.capture.rows.op_names import OP_NAMES
from paddle_lab.capture.rows.tape import Cells
from paddle_lab.capture.tables.named_attributes import with_names
from paddle_lab.trace.schema import RECORD_TABLES
from paddle_lab.trace.table import StringPool, Table, TableBuilder

_MOST_SLOTS = 62
"""Argument positions that have a bit in an ``int64``. No op that Paddle declares has as many."""


def attribute_columns(
    known: Mapping[Any, int],
    keys: Cells,
    names: Cells,
    inputs: tuple[Cells, Cells],
    strings: StringPool,
) -> tuple[Cells, Table]:
    """Return the code of each op's attribute text, and the defaults of named attributes.

    Parameters
    ----------
    known
        The recorder's attributes with their keys.
    keys, names
        One per op: the key of its attributes, and its name's number, -1 if nothing is declared.
    inputs
        For all inputs, in the order of ops: row of the op, and argument position.
    """
    signatures = {key: signature for signature, key in known.items()}
    defaults: dict[tuple[str, str], str] = {}

    @cache
    def text_of(key: int, name: int, mask: int) -> str:
        signature = signatures[key]
        if isinstance(signature, str):  # attributes that cannot be hashed are kept as text
            return signature
        # The second half are the types. They distinguish 1, 1.0 and True.
        attributes: Sequence[Any] = signature[: len(signature) // 2]
        if name >= 0:
            attributes = with_names(OP_NAMES.name(name), mask, attributes, defaults)
        return attribute_text(attributes)

    codes = np.full(len(keys), strings[""], np.int64)
    has = np.flatnonzero(keys)
    calls = (keys[has], names[has], _masks(inputs, len(keys))[has])
    codes[has] = strings.codes(map(text_of, *(column.tolist() for column in calls)))
    table = TableBuilder(RECORD_TABLES["attribute_defaults"])
    for (op, parameter), value in defaults.items():
        table.append(strings[op], strings[parameter], strings[value])
    return codes, table.build()


def _masks(inputs: tuple[Cells, Cells], count: int) -> Cells:
    """Return, for each op, a bit for each argument position with a tensor."""
    op, slot = inputs
    masks = np.zeros(count, np.int64)
    starts = np.flatnonzero(np.diff(op, prepend=-1))
    if len(op):
        bits = np.left_shift(np.int64(1), np.minimum(slot, _MOST_SLOTS))
        masks[op[starts]] = np.bitwise_or.reduceat(bits, starts)
    return masks
