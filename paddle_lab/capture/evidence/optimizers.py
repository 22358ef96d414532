"""The optimizers of a trace, their parameters, and the number of their steps."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.search import instances_among, with_subclasses
from paddle_lab.capture.recorder.tensors import PARAMETER, TensorPool
from paddle_lab.capture.rows.cells import TENSOR_CELLS, TensorCell
from paddle_lab.capture.rows.tape import cells_of
from paddle_lab.trace.table import StringPool, TableBuilder

if TYPE_CHECKING:
    from paddle_lab.capture.tables.row_keys import RecordKeys


class SeenOptimizer:
    """An optimizer that a trace has seen. It is not kept alive."""

    def __init__(self, optimizer: Any, number: int) -> None:
        self.number = number
        """The number that identifies the optimizer in the trace."""
        self.reference = weakref.ref(optimizer)
        self.class_name = type(optimizer).__name__
        self.steps = 0
        self.parameters: list[int] = []
        """Rows of ``tensors``."""
        self.watched: list[weakref.ref[Any]] = []
        """The few parameters that :mod:`.events.step_gradients` checks."""


class OptimizerLog:
    """The optimizers that were created or made a step during a trace.

    An optimizer may be freed when a function of the user returns. So its parameters are read in
    each step.

    Parameters
    ----------
    tensors
        The tensors that the trace has seen. Parameters are stored as rows of tensors.
    backward_calls
        The backward calls of the trace so far.
    """

    def __init__(self, tensors: TensorPool, backward_calls: Sequence[Any]) -> None:
        self._tensors, self._backward_calls = tensors, backward_calls
        self.seen: dict[int, SeenOptimizer] = {}
        """The entries of the optimizers."""

    def entry(self, optimizer: Any) -> SeenOptimizer:
        """Return the entry of an optimizer. Its parameters are read in a step, or at the end."""
        seen = self.seen.get(id(optimizer))
        if seen is None or seen.reference() is not optimizer:
            if seen is not None:
                self.seen[-1 - len(self.seen)] = seen  # a new optimizer is at this address now
            seen = self.seen[id(optimizer)] = SeenOptimizer(optimizer, len(self.seen))
        return seen

    def note_step(self, optimizer: Any) -> None:
        """Count a step, and read the optimizer's parameters."""
        seen = self.entry(optimizer)
        seen.steps += 1
        # A parameter group may be added between two steps. Otherwise the parameters are read only
        # once.
        if _parameter_count(optimizer) != len(seen.parameters):
            seen.parameters = self._rows(parameters_of(optimizer))

    def tensors(self) -> list[int]:
        """Return the rows of all parameters."""
        return [row for seen in self.seen.values() for row in seen.parameters]

    def add_rows(
        self, builders: dict[str, TableBuilder], strings: StringPool, keys: RecordKeys
    ) -> None:
        """Fill ``optimizers`` and ``optimizer_parameters``."""
        for seen in self.seen.values():
            if seen.reference() is None and not seen.steps:
                continue
            key = builders["optimizers"].append(strings[seen.class_name], seen.steps)
            for row in keys.tensors.rows(np.array(seen.parameters, np.int64)).tolist():
                builders["optimizer_parameters"].append(key, row)

    def finish(self, paddle: Any) -> None:
        """Find the optimizers that are alive at the end of the trace, before tables are built."""
        if not self.seen and self._backward_calls and self._has_met_parameters():
            # Only a part of a training loop may be traced. Then the optimizer is older than the
            # trace.
            kinds = with_subclasses(paddle.optimizer.Optimizer)
            for optimizer in instances_among(gc.get_objects(), kinds):
                self.entry(optimizer)
        for seen in self.seen.values():
            optimizer = seen.reference()
            if optimizer is not None and not seen.parameters:
                seen.parameters = self._rows(parameters_of(optimizer))

    def _has_met_parameters(self) -> bool:
        rows = cells_of(self._tensors.rows).reshape(-1, TENSOR_CELLS)
        return bool((rows[:, TensorCell.KIND] == PARAMETER).any())

    def _rows(self, parameters: Iterable[Any]) -> list[int]:
        return [self._tensors.key_of(one) for one in parameters if DOOR.is_initialized(one)]


def parameters_of(optimizer: Any) -> Iterator[Any]:
    """Iterate over the parameters of an optimizer, including those of its groups."""
    for given in _given(optimizer):
        yield from given["params"] if isinstance(given, dict) else (given,)


def _parameter_count(optimizer: Any) -> int:
    given = _given(optimizer)
    is_grouped = len(given) > 0 and isinstance(given[0], dict)
    return sum(len(group["params"]) for group in given) if is_grouped else len(given)


def _given(optimizer: Any) -> Sequence[Any]:
    if not DOOR.has("optimizers"):
        return ()
    try:
        return DOOR.optimizer_parameters(optimizer) or ()
    except AttributeError:  # such an optimizer wraps another, and has no parameters itself
        return ()
