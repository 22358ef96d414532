"""Files about values: checksums by Paddle, and tensors that PaDiff dumped with its report.

Paddle writes checksums to the path in ``FLAGS_tensor_md5_checksum_output_path``. The file does not
say to how many decimals values were rounded. PaDiff saves the outputs and gradients of layers as
arrays next to its ``report.json``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

_DTYPES: Final = "float(?:16|32|64)|bfloat16|bool|u?int(?:8|16|32|64)|complex(?:64|128)"
_CHECKSUM: Final = re.compile(rf"(\S*?)(?:_({_DTYPES})_([\dx]*))?(@Grad)?:([0-9a-f]{{32}})$")
_NUMBER: Final = re.compile(r"\d+(?=_)")
_WITH_DIGITS: Final = ("atan2", "expm1", "i0", "i1", "log10", "log2")
"""Ops of Paddle whose names end in digits."""


class Value(NamedTuple):
    """A tensor of a dump."""

    name: str
    dtype: str
    shape: str
    """``"[2, 3]"``, ``""`` if the file does not tell it."""
    digest: int
    array: npt.NDArray[Any] | None = None


@dataclass
class ValuedOp:
    """An op or a layer with its outputs; or a gradient."""

    name: str
    route: str = ""
    """The path of the layer, ``""`` for none."""
    is_backward: bool = False
    values: list[Value] = field(default_factory=list)


def is_checksums(text: str) -> bool:
    """Tell whether the text of a file consists of Paddle's checksums."""
    return _CHECKSUM.match(text.partition("\n")[0]) is not None


def read_checksums(text: str) -> list[ValuedOp]:
    """Return the ops in a file of checksums, in order, and each gradient by its tensor's name."""
    ops: list[ValuedOp] = []
    counts: dict[str, int] = {}
    last = "", 0
    for name, dtype, shape, grad, checksum in _lines(text):
        extents = f"[{shape.replace('x', ', ')}]" if dtype else ""
        value = Value(name + grad, dtype, extents, int(checksum[:15], 16))
        if grad or not dtype:
            ops.append(ValuedOp(name + grad, is_backward=True, values=[value]))
            continue
        op = _op_of(name, counts, last)
        if op != last or not ops or ops[-1].is_backward:
            ops.append(ValuedOp(op[0]))
        ops[-1].values.append(value)
        last = op
        counts[op[0]] = op[1]
    return ops


def _lines(text: str) -> Iterator[tuple[str, ...]]:
    for line in text.splitlines():
        if found := _CHECKSUM.match(line):
            yield tuple(part or "" for part in found.groups())


def _op_of(name: str, counts: dict[str, int], last: tuple[str, int]) -> tuple[str, int]:
    """Split a name into op and number: ``"log21_out"`` is ``log2`` and 1, or ``log`` and 21."""
    digits = _NUMBER.search(name)
    if digits is None:
        return name, 0
    first, end = digits.span()
    ends = [at for at in range(first, end) if at == first or name[:at] in _WITH_DIGITS]
    splits = [(name[:at], int(name[at:end])) for at in ends]
    if last in splits:
        return last
    return next((one for one in splits if counts.get(one[0], 0) + 1 == one[1]), splits[0])


def read_report(path: Path) -> list[ValuedOp]:
    """Return the layers in PaDiff's ``report.json``, in the order in which they ran.

    Raises
    ------
    ValueError
        If the file is not such a report, or an array is damaged.
    OSError
        If an array cannot be read.
    """
    try:
        nodes = list(_nodes(json.loads(path.read_text("utf-8"))["tree"]))
        forward = sorted(nodes, key=lambda node: int(node["metas"]["fwd_step"]))
        backward = sorted(nodes, key=lambda node: int(node["metas"]["bwd_step"]))
        return [*_layers(path, forward, "fwd_outputs"), *_layers(path, backward, "bwd_grads")]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(path) from error


def _layers(path: Path, nodes: list[dict[str, Any]], part: str) -> Iterator[ValuedOp]:
    for node in nodes:
        if node[part]:
            is_backward = part == "bwd_grads"
            yield ValuedOp(node["name"], node["route"], is_backward, _values(path, node[part]))


def _nodes(tree: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    waiting = list(reversed(tree))
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node["children"]))


def _values(report: Path, told: list[dict[str, str]]) -> list[Value]:
    values = []
    for one in told:
        # The report contains the path on the machine where it was written.
        file = report.parent / "tensors" / re.split(r"[\\/]", one["path"])[-1]
        array = np.load(file, allow_pickle=False)
        digest = int(hashlib.md5(array.tobytes(), usedforsecurity=False).hexdigest()[:15], 16)
        dtype = one["dtype"].rpartition(".")[2]
        values.append(Value("", dtype, str(list(array.shape)), digest, array))
    return values
