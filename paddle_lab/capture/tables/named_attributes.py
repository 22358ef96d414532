"""The names of those arguments of a call that are not tensors, as Paddle declares them."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number
from typing import Any

from paddle_lab.capture.recorder.attributes import is_keyword
from paddle_lab.capture.tables.op_signatures import Parameter, signature_of

_NOT_GIVEN = {"out": "None", "name": "None"}


def with_names(
    op: str, input_slots: int, attributes: Sequence[Any], defaults: dict[tuple[str, str], str]
) -> Sequence[Any]:
    """Return a call's attributes. Those given by position become pairs of name and value.

    Attributes are returned unchanged if they do not fit Paddle's declaration of the op, or if there
    is no declaration. Ops of the older interface are such a case.

    Parameters
    ----------
    input_slots
        A bit mask of the argument positions that hold tensors; attributes hold the others.
    defaults
        By op and name. The defaults of the parameters that were given are added here.
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
    """Return the attributes' names, ``""`` for operands; none if one does not fit."""
    free = (one for at, one in enumerate(parameters) if not input_slots >> at & 1)
    names: list[str] = []
    for attribute in attributes if parameters else ():
        if is_keyword(attribute):
            names.append(attribute[0])
            continue
        parameter = next(free, None)
        if parameter is None or not _fits(attribute, parameter):
            return []
        # An operand: ``1 - x`` and ``x - 1`` are the same call of ``subtract``.
        is_operand = (parameter.is_tensor or op == "pow") and isinstance(attribute, Number)
        names.append("" if is_operand else parameter.name)
    return names


def _fits(value: Any, parameter: Parameter) -> bool:
    """Tell whether C++ may take this value for the parameter."""
    kind = parameter.kind
    if value is None or not kind:
        return True
    if isinstance(value, (tuple, list)):
        return "vector" in kind or kind == "IntArray" or (parameter.is_tensor and not value)
    if isinstance(value, str):
        return kind in {"std::string", "Scalar"}
    if isinstance(value, Number):  # numbers of NumPy's too
        return kind not in {"std::string", "DataType", "Place"}
    return kind == ("DataType" if type(value).__name__ in {"DataType", "VarType"} else "Place")
