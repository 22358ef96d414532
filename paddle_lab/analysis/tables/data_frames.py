"""Tables as pandas data frames, where pandas is installed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from paddle_lab.words import say

if TYPE_CHECKING:
    import pandas


class Framed:
    """A table that can be converted to a data frame."""

    _asked_as: ClassVar[str]
    """The call as a user writes it, for the error message."""

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with one row for each row of the table.

        Rows of the record's own tables are indexed by their keys.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError(say("errors.pandas", wanted_by=self._asked_as)) from error
        return self._frame(pandas)

    def _frame(self, pandas: Any) -> pandas.DataFrame:
        raise NotImplementedError


def attributes(rows: Iterable[Any], names: Sequence[str]) -> dict[str, list[Any]]:
    """Return columns of a data frame: the attributes of these names of all rows."""
    rows = list(rows)
    return {name: [getattr(row, name) for row in rows] for name in names}
