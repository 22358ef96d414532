"""The attributes of ops as text, computed once for each distinct call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np

from paddle_lab.capture.recorder.attributes import attribute_text, is_keyword
from paddle_lab.capture.rows.op_names import OP_NAMES
from paddle_lab.capture.rows.tape import Cells
from paddle_lab.capture.tables.op_signatures import Parameter, signature_of
from paddle_lab.trace.distinct import distinct
from paddle_lab.trace.schema import RECORD_TABLES
from paddle_lab.trace.table import StringPool, Table, TableBuilder

_NOT_GIVEN = {"out": "None", "name": "None"}


def with_names(
    op: str, input_slots: int, attributes: Sequence[Any], defaults: dict[tuple[str, str], str]
) -> Sequence[Any]:
    """Return the attributes of a call, as pairs of name and value if they have names.

    Attributes are returned unchanged if Paddle does not declare the op, or if they do not match the
    declaration, as for ops of the older interface.

    Parameters
    ----------
    input_slots
        A bit mask of the argument positions with tensors. Attributes have the other positions.
    defaults
        Defaults of parameters, by op and name. The defaults of this call's parameters are added.
    """
    parameters = signature_of(op)
    names = _names(parameters, op, input_slots, attributes)
    if not names:
        return attributes
    known = {**_NOT_GIVEN, **{one.name: one.default for one in parameters}}
    defaults.update({(op, name): known[name] for name in names if known.get(name)})
    return [
        (name, value) if name and not is_keyword(value) else value
        for name, value in zip(names, attributes, strict=True)
    ]


def _names(
    parameters: Sequence[Parameter], op: str, input_slots: int, attributes: Sequence[Any]
) -> list[str]:
    """Return the names of attributes, ``""`` for operands; none if an attribute does not match."""
    free = (one for at, one in enumerate(parameters) if not input_slots >> at & 1)
    names: list[str] = []
    for attribute in attributes if parameters else ():
        if is_keyword(attribute):
            names.append(attribute[0])
            continue
        parameter = next(free, None)
        if parameter is None or not _fits(attribute, parameter):
            return []
        # A number may be an operand: ``1 - x`` and ``x - 1`` both call ``subtract``.
        is_operand = (parameter.is_tensor or op == "pow") and isinstance(attribute, Number)
        names.append("" if is_operand else parameter.name)
    return names


def _fits(value: Any, parameter: Parameter) -> bool:
    """Tell whether C++ accepts this value for a parameter."""
    kind = parameter.kind
    if value is None or not kind:
        return True
    if isinstance(value, (tuple, list)):
        return "vector" in kind or kind == "IntArray" or (parameter.is_tensor and not value)
    if isinstance(value, str):
        return kind in {"std::string", "Scalar"}
    if isinstance(value, Number):  # also a number of NumPy's
        return kind not in {"std::string", "DataType", "Place"}
    return kind == ("DataType" if type(value).__name__ in {"DataType", "VarType"} else "Place")


_MOST_SLOTS = 62
"""Argument positions that have a bit in an ``int64``. No op that Paddle declares has more."""


def attribute_columns(
    known: Mapping[Any, int],
    keys: Cells,
    names: Cells,
    inputs: tuple[Cells, Cells],
    strings: StringPool,
) -> tuple[Cells, Table]:
    """Return the code of each op's attribute text, and the defaults of the named attributes.

    Parameters
    ----------
    known
        The recorder's attributes with their keys.
    keys, names
        For each op: the key of its attributes, and the number of its name, -1 for undeclared ops.
    inputs
        The row of the op and the argument position of each input, in the order of ops.
    """
    signatures = {key: signature for signature, key in known.items()}
    defaults: dict[tuple[str, str], str] = {}

    def text_of(key: int, name: int, mask: int) -> str:
        signature = signatures[key]
        if isinstance(signature, str):  # attributes that cannot be hashed are kept as text
            return signature
        # The second half has the types, to distinguish 1, 1.0 and True.
        attributes: Sequence[Any] = signature[: len(signature) // 2]
        if name >= 0:
            attributes = with_names(OP_NAMES.name(name), mask, attributes, defaults)
        return attribute_text(attributes)

    codes = np.full(len(keys), strings[""], np.int64)
    has = np.flatnonzero(keys)
    calls = (keys[has], names[has], _masks(inputs, len(keys))[has])
    first, number = distinct(*calls)
    texts = map(text_of, *(column[first].tolist() for column in calls))
    codes[has] = np.array(strings.codes(texts), np.int64)[number]
    table = TableBuilder(RECORD_TABLES["attribute_defaults"])
    for (op, parameter), value in defaults.items():
        table.append(strings[op], strings[parameter], strings[value])
    return codes, table.build()


def _masks(inputs: tuple[Cells, Cells], count: int) -> Cells:
    """Return for each op a bit mask of the argument positions with a tensor."""
    op, slot = inputs
    masks = np.zeros(count, np.int64)
    starts = np.flatnonzero(np.diff(op, prepend=-1))
    if len(op):
        bits = np.left_shift(np.int64(1), np.minimum(slot, _MOST_SLOTS))
        masks[op[starts]] = np.bitwise_or.reduceat(bits, starts)
    return masks
