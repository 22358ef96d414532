"""The names that Paddle gives to the arguments of a call that are no tensors."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number
from typing import Any

from paddle_lab.capture.recorder.attributes import is_keyword
from paddle_lab.capture.tables.op_signatures import Parameter, signature_of

Names = tuple[str, ...]


class AttributeNames:
    """Names of the attributes of calls, and the defaults of all that were named."""

    def __init__(self) -> None:
        self.defaults: dict[tuple[str, str], str] = {}
        """By op and name, of parameters that have a default."""
        self._known: dict[tuple[Any, ...], Names] = {}

    def name(
        self, op: str, input_slots: int, attributes: Sequence[Any], types: Sequence[type]
    ) -> Sequence[Any]:
        """Return the attributes of a call, those given by position as pairs of name and value.

        Attributes that do not fit what Paddle declares of the op come back as they are: an op of
        an older interface, or of a Paddle that says nothing of it.

        Parameters
        ----------
        input_slots
            The argument positions where tensors were, a bit each; the attributes have the others.
        """
        call = (op, input_slots, types)
        names = self._known.get(call)
        if names is None:
            names = _names(op, input_slots, attributes)
            self._add_defaults(op, names)
            if tuple not in types:  # whose contents count too
                self._known[call] = names
        if not names:
            return attributes
        return [
            (name, value) if name and not is_keyword(value) else value
            for name, value in zip(names, attributes, strict=True)
        ]

    def _add_defaults(self, op: str, names: Names) -> None:
        signature = signature_of(op)
        known = {} if signature is None else signature.defaults
        self.defaults.update({(op, name): known[name] for name in names if known.get(name)})


def _names(op: str, input_slots: int, attributes: Sequence[Any]) -> Names:
    """Return the name of each attribute, "" of those without; none where they do not fit."""
    signature = signature_of(op)
    if signature is None:
        return ()
    free = (at for at in range(len(signature.parameters)) if not input_slots >> at & 1)
    names: list[str] = []
    for attribute in attributes:
        if is_keyword(attribute):
            names.append(attribute[0])
            continue
        parameter = next((signature.parameters[at] for at in free), None)
        if parameter is None or not _fits(attribute, parameter):
            return ()
        # An operand: ``1 - x`` and ``x - 1`` are the same call of ``subtract``.
        is_operand = (parameter.is_tensor or op == "pow") and isinstance(attribute, Number)
        names.append("" if is_operand else parameter.name)
    return tuple(names)


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
