"""The cells of a table's columns. Some cells may be unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Partial:
    """The cells of a column, some of which are unknown."""

    values: npt.NDArray[Any]
    is_unknown: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> Partial:
        return Partial(self.values[rows], self.is_unknown[rows])

    def tolist(self) -> list[Any]:
        """Return the values as a list, with None for unknown ones."""
        cells = zip(self.values.tolist(), self.is_unknown.tolist(), strict=True)
        return [None if is_unknown else value for value, is_unknown in cells]


def optional(values: npt.NDArray[Any]) -> Partial:
    """Return a column in which negative numbers stand for unknown values."""
    return Partial(values, values < 0)


Values = npt.NDArray[Any] | Partial | list[Any]
"""The cells of a column. A list has None for an unknown value."""


def listed(values: Values) -> list[Any]:
    """Return a column as a list, with None for unknown values."""
    return values if isinstance(values, list) else values.tolist()
