"""Which rows of ``tensors`` are values of one storage, and the order of its changes.

Paddle counts the in-place changes of a storage. All its views share this count: slices,
``reshape`` and ``detach`` results. Each row of the record has the count, so a change of one view is
known to change the others.
"""

from __future__ import annotations

import numpy as np

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.graph.trees import nearest_marked, rows_by

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
        tensors = facts.record.tensors
        # For each row, an older row of the same storage, if it has one.
        older = np.maximum(tensors["previous"], tensors["detached_from"])
        for op in facts.ops_named(_VIEWS):
            for source in facts.inputs(op)[:1]:
                for made in facts.outputs(op):
                    # A view starts with the version of its base, a copy with 0.
                    if older[made] < 0 and facts.version(made) == facts.version(source):
                        older[made] = source
        roots = nearest_marked(older, older < 0)
        self.root = roots.tolist().__getitem__
        """The first row of a row's storage, which identifies the storage."""
        self._members = rows_by(roots, np.arange(len(roots)), len(roots))

    def members(self, tensor: int) -> list[int]:
        """Return all rows that are values of a row's storage, in order."""
        return self._members(self.root(tensor))

    def changes(self, tensor: int) -> list[tuple[int, int]]:
        """Return the ops that modified a row's storage in place, in order, with the new versions.

        An op counts if its result has a higher version than the storage had before.
        """
        version, found = 0, []
        for row in self.members(tensor):
            op = self._facts.producer(row)
            if self._facts.version(row) > version and op >= 0:
                found.append((op, self._facts.version(row)))
            version = max(version, self._facts.version(row))
        return found
