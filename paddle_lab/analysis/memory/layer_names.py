"""Names of layers, which differ even if two models have the same path."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.graph.scopes import layers_of_scopes
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ANSWER_TABLES
from paddle_lab.trace.table import StringPool, Table
from paddle_lab.trace.trees import Keys, outermost


class LayerNames:
    """Names of a record's layers, and which layer a parameter belongs to.

    A path is relative to its model: ``"0"`` is the first layer of any ``Sequential``. If the path
    begins with a number, or if two models have the same path, the model's name comes first:
    ``"critic.0"``.

    Parameters
    ----------
    record
        The record.
    """

    def __init__(self, record: Record) -> None:
        self._record = record
        self._paths = [record.text(code) for code in record.layers["path"].tolist()]
        self._roots = outermost(record.layers["parent"]).tolist()
        self._roots_with: defaultdict[str, set[int]] = defaultdict(set)
        for path, root in zip(self._paths, self._roots, strict=True):
            self._roots_with[path].add(root)

    @property
    def names(self) -> list[str]:
        """The name of each layer."""
        return [
            path if layer == root else self._name(path, root)
            for layer, (path, root) in enumerate(zip(self._paths, self._roots, strict=True))
        ]

    def owners(self, tensors: Keys) -> list[str]:
        """Return for each parameter the name of the layer that has it.

        Parameters
        ----------
        tensors
            Keys of tensors that have a path, shape ``[tensors]``.
        """
        paths, roots = self._record.tensors["path"][tensors], self._roots_of_tensors()[tensors]
        # Each optimizer step makes a new row for each parameter, so there are many rows with few
        # paths.
        width = len(self._paths) + 1
        pairs, which = np.unique(paths.astype(np.int64) * width + roots + 1, return_inverse=True)
        names = [
            self._owner(self._record.text(pair // width).rpartition(".")[0], pair % width - 1)
            for pair in pairs.tolist()
        ]
        return [names[pair] for pair in which.tolist()]

    def _owner(self, path: str, root: int) -> str:
        # In a limited trace a parameter may have no uses. But only one model may have its path.
        having = self._roots_with.get(path, ())
        return self._name(path, next(iter(having)) if root < 0 and len(having) == 1 else root)

    def _name(self, path: str, root: int) -> str:
        if root < 0 or not path:
            return path or (self._paths[root] if root >= 0 else "")
        is_ambiguous = path[0].isdecimal() or len(self._roots_with[path]) > 1
        return f"{self._paths[root]}.{path}" if is_ambiguous and self._paths[root] else path

    def _roots_of_tensors(self) -> npt.NDArray[np.int64]:
        """Return the model in whose layers each tensor was used, -1 for none.

        After an optimizer's step a parameter has another row, but the same model.
        """
        record = self._record
        first = outermost(record.tensors["previous"])
        layer = layers_of_scopes(record)[record.ops["scope"][record.uses["op"]]]
        inside = np.flatnonzero(layer >= 0)[::-1]  # the earliest use is assigned last, and remains
        root = np.full(len(record.tensors), -1)
        roots = np.array([*self._roots, -1])
        root[first[record.uses["tensor"][inside]]] = roots[layer[inside]]
        found: npt.NDArray[np.int64] = root[first]
        return found


def layer_name_tables(record: Record, strings: StringPool) -> dict[str, Table]:
    """Return the tables ``layer_names`` and ``tensor_layers``."""
    known = LayerNames(record)
    named = np.flatnonzero((record.tensors["path"] > 0) & (len(record.allocations) > 0))
    owners = known.owners(named) if len(named) else []
    columns: dict[str, dict[str, Sequence[int]]] = {
        "layer_names": {"name": strings.codes(known.names)},
        "tensor_layers": {"tensor": named.tolist(), "name": strings.codes(owners)},
    }
    return {name: Table.from_sequences(ANSWER_TABLES[name], columns[name]) for name in columns}
