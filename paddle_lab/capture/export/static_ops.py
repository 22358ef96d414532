"""The ops of a compiled program with their lines and outputs."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any, Final

import numpy as np

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.export.causes import user_place
from paddle_lab.capture.export.eager_ops import OpRun
from paddle_lab.capture.export.guarded_source import Place
from paddle_lab.capture.export.stages import Arrays

_LINE: Final = re.compile(r'File "(.*)", line (\d+)')
_NOT_COMPUTED: Final = (
    "builtin.parameter", "pd_op.data", "builtin.shadow_output", "builtin.combine",
)  # fmt: skip


class StaticRun:
    """A compiled program that runs on the values of a layer's tensors.

    Parameters
    ----------
    paddle
        The paddle module.
    concrete
        Paddle's program with its parameters.
    """

    def __init__(self, paddle: Any, concrete: Any) -> None:
        self._paddle = paddle
        self._scope = paddle.static.Scope()
        for tensor, value in zip(*concrete.parameters, strict=True):
            held = self._scope.var(value.name).get_tensor()
            try:
                held._share_data_with(tensor.value().get_tensor())
            except RuntimeError:  # a buffer without memory, such as the dropout state of an LSTM
                kind = str(tensor.dtype).rpartition(".")[2]
                held.set(np.zeros(tensor.shape, kind), paddle.CPUPlace())
        block = concrete.main_program.global_block()
        self._names = [op.attrs()["name"] for op in block.ops if op.name() == "pd_op.data"]
        self._ops: list[OpRun] = []
        self._counts: list[int] = []
        self._fetched: list[Any] = []
        # The clone has the same ops. The user's program is not changed.
        self._program = concrete.main_program.clone()
        paddle.enable_static()
        try:
            ids = [op.id() for op in block.ops]
            copies = dict(zip(ids, self._program.global_block().ops, strict=True))
            self._outputs = [
                copies[of.id()].results()[[one.id for one in of.results()].index(value.id)]
                for value in paddle.utils.flatten(concrete.outputs)
                if isinstance(value, DOOR.static_value)
                for of in (value.get_defining_op(),)
            ]
            self._fetch(list(block.ops))
            self._executor = paddle.static.Executor()
        finally:
            paddle.disable_static()

    def _fetch(self, originals: list[Any]) -> None:
        """Copy the outputs of every op at once, since a later op may overwrite them."""
        with self._paddle.static.program_guard(self._program):
            place = Place("", 0)
            copies = list(self._program.global_block().ops)
            for op, original in zip(copies, originals, strict=True):
                place = _place(original) or place
                count = None if op.name() == "builtin.split" else 1
                outputs = op.results()[:count]
                if op.name() in _NOT_COMPUTED or not outputs:
                    continue
                if all(one.is_dense_tensor_type() for one in outputs):
                    reads = tuple(one.id for one in original.operands_source() if one.initialized())
                    makes = tuple(one.id for one in original.results())
                    is_unused = all(one.use_empty() for one in original.results())
                    self._ops.append(OpRun(op.name(), place, [], "", reads, makes, is_unused))
                    self._counts.append(len(outputs))
                    DOOR.insert_after(op)
                    self._fetched += [self._paddle.assign(one) for one in outputs]
            DOOR.insert_at_end()

    def run(self, arrays: Arrays) -> tuple[list[OpRun], Arrays]:
        """Run the program once on inputs. Return its ops in order, and its outputs."""
        self._paddle.enable_static()
        try:
            with self._paddle.static.scope_guard(self._scope):
                outputs = self._executor.run(
                    self._program,
                    feed=dict(zip(self._names, arrays, strict=True)),
                    fetch_list=[*self._fetched, *self._outputs],
                )
        finally:
            self._paddle.disable_static()
        made = iter([np.array(output) for output in outputs])
        ops = [
            op._replace(outputs=list(islice(made, count)))
            for op, count in zip(self._ops, self._counts, strict=True)
        ]
        return ops, list(made)


def _place(op: Any) -> Place | None:
    lines = op.callstack if op.has_attr("op_callstack") else []
    found = [match for line in lines if (match := _LINE.search(line))]
    return user_place([(match[1], int(match[2])) for match in found])
