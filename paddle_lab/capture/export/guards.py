"""What guards do: in an eager run, note values; in a static run that raises, continue with them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from paddle_lab.capture.door import DOOR

_MOST_VALUES = 64


Compute = Callable[[], Any]
Read = Callable[[], Any] | None
StandIns = dict[int, list[Callable[[], Any]]]


class Plain:
    """Computes each expression and raises each fault, as without guards."""

    def value(self, _guard: int, _condition: int, compute: Compute, _read: Read = None) -> Any:
        """Return the value of an expression of translated code.

        Parameters
        ----------
        guard
            The number of the guard.
        condition
            The guard of the condition, if the expression is a whole ``if`` or loop; else −1.
        compute
            Computes the expression.
        read
            Reads the variables that an ``if`` or a loop assigns.
        """
        return compute()

    def failed(self, _guard: int, fault: Exception) -> None:
        """Handle the exception of a statement of translated code."""
        raise fault


PLAIN = Plain()
run: Plain = PLAIN
"""What the guards do while code runs. Translated code calls its two methods."""


class Eager(Plain):
    """An eager run, which notes the values of all expressions."""

    def __init__(self) -> None:
        self.values: dict[int, list[Any]] = defaultdict(list)

    def value(self, guard: int, _condition: int, compute: Compute, read: Read = None) -> Any:
        """Compute an expression, and note the value."""
        result = compute()
        variables = result if read is None else read()
        variables = result if variables is None else variables  # for an if expression
        noted = self.values[guard]
        if len(noted) < _MOST_VALUES:
            # The code may change the lists in the value later.
            noted.append(copy(variables) if type(variables) in (list, dict) else variables)
        return result


class Restart(BaseException):
    """The run cannot go on. It must start again, with one more condition from the eager run."""


class Misread(TypeError):  # noqa: N818  (the name is looked for)
    """NumPy has computed with a tensor that has no values, as if it were an object."""


class Static(Plain):
    """A static run that continues after each fault, with the values of the eager run.

    Parameters
    ----------
    stand_ins
        For each guard, functions that make substitutes for the values of the eager run.
    forced
        Guards whose expressions are not computed.
    blame
        Called with each fault, and the first guard that met it.
    enter
        Called with the number of the guard whose expression is computed next.
    """

    def __init__(
        self,
        stand_ins: StandIns,
        forced: set[int],
        blame: Callable[[Exception, int], None],
        enter: Callable[[int], None],
    ) -> None:
        self._values = stand_ins
        self._forced = forced
        self._blame = blame
        self._enter = enter
        self._counts: dict[int, int] = defaultdict(int)
        self._inside: list[int] = []
        self._last: Exception | None = None
        self.numpy_reads = 0
        """How many tensors without values NumPy has read, except inside finished expressions."""
        self.unset = -1
        """The first ``if`` or loop that leaves a variable unset which is an eager tensor."""
        self.undefined: list[int] = []
        """Each ``if`` or loop after which a variable may be undefined, in the order of the run."""
        self.restart = -1
        """The guard of the condition because of which the run must start again."""

    def value(self, guard: int, condition: int, compute: Compute, read: Read = None) -> Any:
        """Compute an expression. If that raises an error, return the noted substitute."""
        count = self._counts[guard]
        self._counts[guard] += 1
        if guard in self._forced:
            return self._noted(guard, count)
        self._inside.append(guard)
        self._enter(guard)
        reads = self.numpy_reads
        try:
            result = compute()
            is_known = self.numpy_reads > reads and self._values.get(guard)
            if is_known and _is_misread(result, self._noted(guard, count)):
                raise Misread("Misread")  # noqa: TRY301
            found = read() if read is not None else None
            if isinstance(found, tuple) and guard in self._values:
                self._compare(guard, count, found)
            return result  # noqa: TRY300
        except Exception as fault:
            self._note(fault, guard)
            if condition >= 0 and self._values.get(condition) and condition not in self._forced:
                self.restart = condition
                raise Restart from None
            if not self._values.get(guard):
                raise
            return self._noted(guard, count)
        finally:
            self.numpy_reads = reads
            self._inside.pop()
            self._enter(self._inside[-1] if self._inside else -1)

    def failed(self, guard: int, fault: Exception) -> None:
        """Note a fault, and go on."""
        self._note(fault, guard)

    def _noted(self, guard: int, count: int) -> Any:
        noted = self._values[guard]
        return noted[min(count, len(noted) - 1)]()

    def _compare(self, guard: int, count: int, found: Any) -> None:
        """Note an ``if`` or loop that leaves variables unset which the eager run sets."""
        for one, expected in zip(found, self._noted(guard, count), strict=False):
            is_undefined = type(one).__name__ == "UndefinedVar"
            if is_undefined:
                self.undefined.append(guard)
            is_unset = one is None or is_undefined
            if is_unset and type(expected) is DOOR.static_value and self.unset < 0:
                self.unset = guard

    def _note(self, fault: Exception, guard: int) -> None:
        if fault is not self._last:
            self._last = fault
            self._blame(fault, guard)


_NUMPY = (np.ndarray, np.generic, bool, int, float)


def _is_misread(result: Any, expected: Any) -> bool:
    """Tell whether NumPy's result contains no tensor, or not the shape of the eager result."""
    if isinstance(result, (list, tuple)) and isinstance(expected, type(result)):
        return any(map(_is_misread, result, expected))
    if not isinstance(result, (*_NUMPY, DOOR.static_value)):
        return False
    if not isinstance(result, DOOR.static_value) and np.asarray(result).dtype.kind != "O":
        return True
    found, wanted = _shape(result), _shape(expected)
    sizes = zip(found, wanted, strict=False)
    return len(found) != len(wanted) or any(0 <= a != b >= 0 for a, b in sizes)


def _shape(value: Any) -> tuple[int, ...]:
    """Return a shape; for an array of tensors, its shape with the shape of the tensors."""
    shape = tuple(getattr(value, "shape", ()))
    is_array = isinstance(value, np.ndarray) and value.dtype == object and value.size
    return shape + _shape(value.flat[0]) if is_array else shape
