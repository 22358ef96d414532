"""What ops were called with, as text: worked out once for each kind of call, not for each op."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from paddle_lab.capture.recorder.attributes import attribute_text
from paddle_lab.capture.rows.op_names import OP_NAMES
from paddle_lab.capture.rows.tape import Cells
from paddle_lab.capture.tables.named_attributes import with_names
from paddle_lab.trace.schema import RECORD_TABLES
from paddle_lab.trace.table import StringPool, Table, TableBuilder

_MOST_SLOTS = 62
"""Argument positions that have a bit of an ``int64``; no op that Paddle declares has as many."""


def attribute_columns(
    known: Mapping[Any, int],
    keys: Cells,
    names: Cells,
    inputs: tuple[Cells, Cells],
    strings: StringPool,
) -> tuple[Cells, Table]:
    """Return the code of each op's attributes, and the defaults of those with a name.

    Parameters
    ----------
    known
        The recorder's attributes with their keys.
    keys, names
        One an op: the key of its attributes, and its name's number, -1 where nothing is declared.
    inputs
        Row of an op and argument position of all inputs, by op.
    """
    said = {key: signature for signature, key in known.items()}
    codes = np.full(len(keys), strings[""], np.int64)
    defaults: dict[tuple[str, str], str] = {}
    has = np.flatnonzero(keys)
    calls = (keys[has], names[has], _masks(inputs, len(keys))[has])
    first, each = _distinct(calls)
    texts: list[str] = []
    for key, name, mask in zip(*(column[first].tolist() for column in calls), strict=True):
        signature = said[key]
        if isinstance(signature, str):  # of what cannot be hashed, only text is known
            texts.append(signature)
            continue
        # The second half are the types, which keep 1, 1.0 and True apart.
        half = len(signature) // 2
        attributes: Sequence[Any] = signature[:half]
        if name >= 0:
            attributes = with_names(OP_NAMES.name(name), mask, attributes, defaults)
        texts.append(attribute_text(attributes))
    codes[has] = np.array(strings.codes(texts), np.int64)[each]
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


def _distinct(columns: tuple[Cells, ...]) -> tuple[Cells, Cells]:
    """Return the first row of each combination, and each row's combination."""
    each = np.zeros(len(columns[0]), np.int64)
    room = 2**62
    for column in columns:
        numbers = column - column.min(initial=0)
        size = int(numbers.max(initial=0)) + 1
        if size > room:  # argument positions from 62 on, or many of everything
            numbers = np.unique(numbers, return_inverse=True)[1]
            size = int(numbers.max(initial=0)) + 1
        each = each * size + numbers
        room //= size
    _, first, each = np.unique(each, return_index=True, return_inverse=True)
    return first, each
