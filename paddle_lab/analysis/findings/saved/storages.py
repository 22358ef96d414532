"""Which rows of ``tensors`` are values of one storage, and in which order it was changed.

Paddle counts a storage's changes in place, and all its views share the count: a slice, a
``reshape``, a ``detach`` of a tensor. The record has that count for each row, so what one of them
did can be told to have happened to the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from paddle_lab.analysis.findings.facts import Facts

_VIEWS = frozenset(
    ("reshape", "reshape_", "transpose", "getitem", "slice", "strided_slice", "squeeze", "squeeze_",
     "unsqueeze", "unsqueeze_", "flatten", "flatten_", "unbind", "view_shape", "view_dtype",
     "as_strided", "diagonal", "tensor_unfold", "as_complex", "as_real", "real", "imag",
     "index_select_strided", "dropout")
)  # fmt: skip


class Storages:
    """The storages of a record's tensors, as far as its ops show which tensors are views."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.version = facts.entry("tensors", "version")
        """Paddle's count of a storage's changes when a row was its value."""

    def root(self, tensor: int) -> int:
        """Return the first row of a row's storage: it stands for all of them."""
        return self._roots[tensor]

    def members(self, tensor: int) -> list[int]:
        """Return all rows that are values of a row's storage, in order."""
        return self._members[self._roots[tensor]]

    def changes(self, tensor: int) -> list[int]:
        """Return the ops that modified a row's storage in place, in order.

        An op counts if its result has a higher version than the storage had before.
        """
        version, found = 0, []
        for row in self.members(tensor):
            op = self._facts.producer(row)
            if self.version(row) > version and op >= 0:
                found.append(op)
            version = max(version, self.version(row))
        return found

    def version_made(self, tensor: int, op: int) -> int:
        """Return the version that a row's storage had after an op that modified it."""
        rows = (row for row in self.members(tensor) if self._facts.producer(row) == op)
        return max(map(self.version, rows))

    @cached_property
    def _members(self) -> dict[int, list[int]]:
        members: dict[int, list[int]] = {}
        for tensor, root in enumerate(self._roots):
            members.setdefault(root, []).append(tensor)
        return members

    @cached_property
    def _roots(self) -> list[int]:
        roots = list(range(len(self._facts.record.tensors)))

        def root_of(tensor: int) -> int:
            while roots[tensor] != tensor:
                roots[tensor] = roots[roots[tensor]]
                tensor = roots[tensor]
            return tensor

        for left, right in self._pairs():
            low, high = sorted((root_of(left), root_of(right)))
            roots[high] = low
        return [root_of(tensor) for tensor in range(len(roots))]

    def _pairs(self) -> Iterator[tuple[int, int]]:
        """Yield rows that are values of the same storage."""
        facts, tensors = self._facts, self._facts.record.tensors
        for column in ("previous", "detached_from"):
            rows = np.flatnonzero(tensors[column] >= 0)
            yield from zip(rows.tolist(), tensors[column][rows].tolist(), strict=True)
        for op in facts.ops_named(_VIEWS).tolist():
            for source in facts.inputs(op)[:1]:
                for made in facts.outputs(op):
                    # A view starts with its base's count of changes, a copy with none.
                    if self.version(made) == self.version(source):
                        yield source, made
