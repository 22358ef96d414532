"""Answers a page's questions about values of a trace."""

from __future__ import annotations

import io
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from paddle_lab.notebook_cells import name_in_notebook
from paddle_lab.replayed_values import ReplayError
from paddle_lab.words import say

if TYPE_CHECKING:
    from paddle_lab.trace_answers import TraceAnswers

Subject = tuple[str, int, int, int]
Kept = tuple[npt.NDArray[Any], dict[str, Any]]
Tell = Callable[[int, int], bool]

_MOST_SAVED_BYTES = 1 << 28

_ALL = weakref.WeakSet["ValueAnswers"]()


class ValueAnswers:
    """Keeps the last two values and their difference, and no trace. Older answers keep nothing."""

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
        except IndexError:  # an op inside a compiled program: only the picture has it
            return {"error": say("replay.outside")}, []
        self.kept = {key: kept for key, kept in self.kept.items() if {*key} <= {*subjects}}
        if question.get("file"):
            return _file(*values[0])
        if len(values) == 2 and values[0][0].shape == values[1][0].shape:
            values.append(self._difference((subjects[0], subjects[1])))
        parts, buffers = [], []
        for array, told in values:
            found, pixels = value_slice(array, question["position"], told)
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
        line = f"{name_in_notebook(trace) or 'trace'}.{method}({key}{more})"
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

    def _keep(
        self, key: tuple[Subject, ...], array: npt.NDArray[Any], check: str, line: str
    ) -> Kept:
        from paddle_lab.views.value_summary import value_statistics

        self.kept[key] = array, {**value_statistics(array), "check": check, "line": line}
        return self.kept[key]


def _file(array: npt.NDArray[Any], told: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    if array.nbytes > _MOST_SAVED_BYTES:
        return {"error": say("replay.large", line=told["line"], mb=array.nbytes >> 20)}, []
    file = io.BytesIO()
    np.save(file, array)
    return {}, [file.getvalue()]
