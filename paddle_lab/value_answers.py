"""Answers a page's questions about values of a trace."""

from __future__ import annotations

import io
import math
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from paddle_lab.notebook_cells import running_cells
from paddle_lab.replayed_values import ReplayError
from paddle_lab.words import say

if TYPE_CHECKING:
    from paddle_lab.trace_answers import TraceAnswers

Subject = tuple[str, int, int, int]
Array = npt.NDArray[Any]
Kept = tuple[Array, dict[str, Any]]
Tell = Callable[[int, int], bool]

_MOST_SAVED_BYTES = 1 << 28

_ALL = weakref.WeakSet["ValueAnswers"]()


class ValueAnswers:
    """Answers questions about values. It keeps the last two and their difference, but no trace."""

    def __init__(self, trace: TraceAnswers) -> None:
        self._trace = weakref.ref(trace)
        self.kept: dict[tuple[Subject, ...], Kept] = {}
        _ALL.add(self)

    def answer(self, question: Mapping[str, Any], tell: Tell) -> tuple[dict[str, Any], list[bytes]]:
        """Return a value's summary with one slice, or its file, or the reason as ``"error"``.

        Parameters
        ----------
        question
            ``subjects``: one or two lists: ``"op"`` or ``"grad_node"``, its key, the output, and a
            backward call or -1. ``position``: of the slice. ``file``: whether to send an .npy file.
        tell
            Is told how many of how many ops have run, and returns whether to go on.
        """
        from paddle_lab.views.value_summary import value_slice

        subjects: list[Subject] = [tuple(one) for one in question["subjects"]]
        try:
            values = [self._value(subject, tell) for subject in subjects]
        except ReplayError as reason:
            return {"error": str(reason)}, []
        self.kept = {key: kept for key, kept in self.kept.items() if {*key} <= {*subjects}}
        if question.get("file"):
            return _file(*values[0])
        if len(values) == 2 and values[0][0].shape == values[1][0].shape:
            values.append(self._difference((subjects[0], subjects[1])))
        parts, buffers = [], []
        for array, told in values:
            ends = told["statistics"] if told["nans"] + told["infs"] == 0 else None
            found, pixels = value_slice(array, question["position"], ends and ends[:2])
            parts.append({**told, **found})
            buffers += pixels
        return {"parts": parts}, buffers

    def _value(self, subject: Subject, tell: Tell) -> Kept:
        from paddle_lab.capture.replay.player import PROGRESS

        for other in _ALL:
            if other is not self:
                other.kept.clear()
        if (subject,) in self.kept:
            return self.kept[subject,]
        trace = self._trace()
        if trace is None:
            raise ReplayError(say("replay.gone"))
        of, key, output, call = subject
        token = PROGRESS.set(tell)
        try:
            if of == "op":
                array = trace.value(key, output)
            else:
                array = trace.gradient(key, output, call=None if call < 0 else call)
        finally:
            PROGRESS.reset(token)
        method = "value" if of == "op" else "gradient"
        more = f"{f', {output}' if output else ''}{f', call={call}' if call >= 0 else ''}"
        cells = running_cells()
        name = (cells and cells.name_of(trace)) or "trace"
        line = f"{name}.{method}({key}{more})"
        return self._keep((subject,), array.view(np.ndarray), array.check, line)

    def _difference(self, pair: tuple[Subject, Subject]) -> Kept:
        if pair in self.kept:
            return self.kept[pair]
        (one, of_one), (other, of_other) = (self.kept[subject,] for subject in pair)
        # Booleans cannot be subtracted, and unsigned integers have no negative difference.
        signed = [
            part.astype(np.int64) if part.dtype.kind in "bu" else part for part in (one, other)
        ]
        with np.errstate(all="ignore"):
            array = np.subtract(*signed)
        return self._keep(pair, np.asarray(array), "", f"{of_one['line']} - {of_other['line']}")

    def _keep(self, key: tuple[Subject, ...], array: Array, check: str, line: str) -> Kept:
        self.kept[key] = array, {**value_statistics(array), "check": check, "line": line}
        return self.kept[key]


def value_statistics(array: Array) -> dict[str, Any]:
    """Return the statistics of all elements, as JSON; of complex numbers, of their magnitudes."""
    from paddle_lab.capture.evidence.values.scan import KINDS, scan

    dtype = str(array.dtype)
    read = np.ascontiguousarray(array, None if dtype in KINDS else np.float64)
    kind = KINDS.index(str(read.dtype))
    found = scan(read.ctypes.data, read.size, kind, True)  # noqa: FBT003
    zeros, nans, infs, least, most, total, _, histogram, deviations, _ = found
    bins: dict[int, list[int]] = {}
    for exponent, is_negative, count in np.frombuffer(histogram, np.int64).reshape(-1, 3).tolist():
        bins.setdefault(exponent, [0, 0])[1 - is_negative] = count
    finite = array.size - nans - infs
    return {
        "shape": list(array.shape),
        "dtype": dtype,
        "elements": array.size,
        "zeros": zeros,
        "nans": nans,
        "infs": infs,
        "statistics": [least, most, total / finite, math.sqrt(deviations / finite)]
        if finite
        else None,
        "bins": [[exponent, *counts] for exponent, counts in sorted(bins.items())],
    }


def _file(array: Array, told: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    if array.nbytes > _MOST_SAVED_BYTES:
        return {"error": say("replay.large", line=told["line"], mb=array.nbytes >> 20)}, []
    file = io.BytesIO()
    np.save(file, array)
    return {}, [file.getvalue()]
