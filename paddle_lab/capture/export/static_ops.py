"""The ops of a compiled program with their lines and outputs."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any, Final

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.export.causes import user_place
from paddle_lab.capture.export.eager_ops import OpRun
from paddle_lab.capture.export.guarded_source import Place
from paddle_lab.capture.export.stages import Arrays
from paddle_lab.capture.replay.player import as_array
from paddle_lab.capture.replay.program_runs import Runner

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
        parameters = zip(*concrete.parameters, strict=True)
        self._tensors = {value.name: tensor for tensor, value in parameters}
        block = concrete.main_program.global_block()
        self._names = [op.attrs()["name"] for op in block.ops if op.name() == "pd_op.data"]
        self._ops: list[OpRun] = []
        self._counts: list[int] = []
        # The clone has the same ops. The user's program is not changed.
        self._runner = Runner(paddle, concrete.main_program, [], is_sot=False)
        originals, copies = [*block.ops], [*self._runner.program.global_block().ops]
        of_op = dict(zip((op.id() for op in originals), copies, strict=True))
        outputs = [
            of_op[of.id()].results()[[one.id for one in of.results()].index(value.id)]
            for value in paddle.utils.flatten(concrete.outputs)
            if isinstance(value, DOOR.static_value)
            for of in (value.get_defining_op(),)
        ]
        self._fetch(originals, copies)
        self._runner.values += outputs

    def _fetch(self, originals: list[Any], copies: list[Any]) -> None:
        """Copy the outputs of every op at once, since a later op may overwrite them."""
        place = Place("", 0)
        for op, original, following in zip(copies, originals, [*copies[1:], None], strict=True):
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
                for one in outputs:
                    self._runner.copy(one, following)

    def run(self, arrays: Arrays) -> tuple[list[OpRun], Arrays]:
        """Run the program once on inputs. Return its ops in order, and its outputs."""
        inputs = zip(self._names, map(self._paddle.to_tensor, arrays), strict=True)
        made = iter([as_array(one) for one in self._runner.run(self._tensors | dict(inputs))])
        ops = [
            op._replace(outputs=list(islice(made, count)))
            for op, count in zip(self._ops, self._counts, strict=True)
        ]
        return ops, list(made)


def _place(op: Any) -> Place | None:
    lines = op.callstack if op.has_attr("op_callstack") else []
    found = [match for line in lines if (match := _LINE.search(line))]
    return user_place([(match[1], int(match[2])) for match in found])
