"""Statistics of each tensor, computed after an op made it or when the trace first sees it.

Each row of ``tensors`` is one value, so each row is scanned once. No op of Paddle runs, because the
values are read from memory. Undefined tensors are never read.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.backward_graph.graphs import flat
from paddle_lab.capture.evidence.collector import Collector, Forgotten
from paddle_lab.capture.evidence.values.scan import KINDS, Scanned
from paddle_lab.capture.evidence.values.statistics import (
    Seen,
    is_floating,
    kind_of,
    look_at,
    statistic_cells,
    statistics,
)
from paddle_lab.capture.recorder.faults import described
from paddle_lab.capture.recorder.thread_state import OPTIMIZER
from paddle_lab.capture.rows.cells import NO_KEY
from paddle_lab.capture.tables.row_keys import RecordKeys
from paddle_lab.trace.floats import float_bits
from paddle_lab.trace.table import StringPool, TableBuilder
from paddle_lab.words import say
from paddle_lab.words.suggestion import suggestion

if TYPE_CHECKING:
    from paddle_lab.capture.evidence.values.inside import Inside
    from paddle_lab.capture.recorder.recorder import Recorder

MOST_BYTES = 1 << 30
"""If more bytes of values than this are kept, none are."""
_Row = tuple[int, bool, tuple[int, ...], Any, int, Scanned]
"""A tensor, whether it was scanned in full, and the cells of :data:`Seen`."""


class Values(Collector):
    """Fills the table ``value_stats``.

    Parameters
    ----------
    recorder
        The recorder whose tensors are scanned.
    in_full
        Whether to scan also integers, and to compute histograms.
    inside
        The part of the code in which tensors are scanned in full; ``None`` for all code.
    elsewhere
        Whether to scan floating-point tensors also in other code, because a check needs them.
    decimals
        To how many decimals all tensors' values are rounded for their digests; ``None`` for no
        digests.
    keeps
        The part of the code in which the values themselves are kept; ``None`` for none.
    """

    def __init__(
        self,
        recorder: Recorder,
        *,
        in_full: bool = False,
        inside: Inside | None = None,
        elsewhere: bool = False,
        decimals: int | None = None,
        keeps: Inside | None = None,
    ) -> None:
        self._recorder = recorder
        self._tensors = recorder.tensors
        self._in_full = in_full
        self._inside = inside
        self._keeps = keeps
        self._missing = [one for one in (inside, keeps) if one is not None]
        self._kept: dict[int, npt.NDArray[Any]] = {}
        self._elsewhere = elsewhere
        self._decimals = decimals
        self._rows: list[_Row] = []
        self._kept_bytes = 0
        self._has_failed = False

    def open(self) -> None:
        """Start to scan the outputs of ops, and tensors that the trace sees for the first time."""
        self._recorder.on_op = self._on_op
        self._tensors.meeting_listeners.append(self._look)
        self._tensors.change_listeners.append(self._look)

    def close(self) -> None:
        """Stop scanning."""
        self._recorder.on_op = None
        for listeners in (self._tensors.meeting_listeners, self._tensors.change_listeners):
            if self._look in listeners:
                listeners.remove(self._look)
        for inside in self._missing:
            if not inside.has_run:
                self._recorder.notices.append(_not_found(inside))
        self._missing = []

    def _on_op(self, _op: int, result: Any) -> None:
        wanted = self._recorder.tensor_type
        is_for_checks = not self._in_full and self._decimals is None
        if is_for_checks and self._recorder.thread().phase == OPTIMIZER:
            wanted = self._recorder.parameter_type  # no check reads moments
        for value in (result,) if isinstance(result, wanted) else flat(result):
            if isinstance(value, wanted):
                self._look(value, self._tensors.known_key(value))

    def _look(self, tensor: Any, key: int) -> None:
        if key == NO_KEY or self._has_failed:  # undefined: the trace cannot find its row
            return
        try:
            in_full, decimals = self._in_full, self._decimals
            has_digest = decimals is not None
            if self._inside is not None:
                in_full = self._inside.holds(self._recorder.thread().scope)
                if not (in_full or self._elsewhere or has_digest):
                    return
            if in_full or has_digest or is_floating(tensor.dtype):
                seen: Seen | None = look_at(tensor, with_histogram=in_full, decimals=decimals)
                if seen is not None:
                    self._rows.append((key, in_full, *seen))
                    if self._keeps is not None:
                        self._keep(tensor, key, self._keeps)
        except Exception as fault:  # noqa: BLE001  (the trace goes on without statistics)
            self._has_failed = True
            self._recorder.notices.append(say("notices.values.failed", fault=described(fault)))

    def _keep(self, tensor: Any, key: int, part: Inside) -> None:
        if key in self._kept:  # overwritten without an op: see comparison/side.py
            return
        if self._kept_bytes <= MOST_BYTES and part.holds(self._recorder.thread().scope):
            # Call Paddle's original method. The hook around it would record a read by the user.
            value = np.array(inspect.unwrap(type(tensor).numpy)(tensor))
            if KINDS[kind_of(tensor.dtype)] == "bfloat16":  # the upper half of a float32
                value = (value.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
            self._kept[key] = value
            self._kept_bytes += value.nbytes
            if self._kept_bytes > MOST_BYTES:
                self._kept.clear()
                notice = say("notices.values.too_large", part=repr(part.name), most=MOST_BYTES)
                self._recorder.notices.append(notice)

    def forget(self, gone: Forgotten) -> None:
        """Drop the statistics of tensors that the trace has dropped."""
        self._rows = [row for row in self._rows if row[0] not in gone.tensors]
        for key in gone.tensors.intersection(self._kept):
            del self._kept[key]
        for inside in (self._inside, self._keeps):
            if inside is not None:
                inside.index_anew()

    def add_rows(
        self, builders: dict[str, TableBuilder], _strings: StringPool, keys: RecordKeys
    ) -> None:
        """Fill ``value_stats``, sorted by tensor, then in the order of recording."""
        kept = keys.tensors.rows(np.array([*self._kept], np.int64)).tolist()
        self._recorder.kept_values.update(zip(kept, self._kept.values(), strict=True))
        self._rows.sort(key=lambda row: row[0])
        tensors = keys.tensors.rows(np.array([row[0] for row in self._rows], np.int64)).tolist()
        numbers = [statistics(row[2:]) for row in self._rows]
        deviations = float_bits([one.deviation for one in numbers])
        told = zip(self._rows, tensors, statistic_cells(numbers), deviations, strict=True)
        for (_, in_full, *_, scanned), tensor, cells, deviation in told:
            stat = builders["value_stats"].append(tensor, *cells)
            if scanned[9] is not None:
                builders["value_digests"].append(stat, scanned[9], self._decimals or 0)
            if in_full:
                builders["value_deviations"].append(stat, deviation)
                counts = np.frombuffer(scanned[7], np.int64).reshape(-1, 3)
                cells_of_bins = np.insert(counts, 0, stat, axis=1).ravel().tolist()
                builders["value_histograms"].append_cells(cells_of_bins)


def _not_found(inside: Inside) -> str:
    name, known = repr(inside.name), list(inside.known)
    if not known:
        return say("notices.values.nothing_named", name=name)
    advice = suggestion(inside.name, known, key="notices.values.known")
    return say("notices.values.not_found", name=name, advice=advice)
