"""The forward graph for netron.app, in the format of ``paddle.jit.save``.

Netron shows the attributes of an op. In this file they include the op's line and layer, and
:mod:`paddle_lab.programs.pir_json` reads them back. The ops inside an ``if`` or a ``while`` are
shown next to it, as in all graphs of this package.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from paddle_lab.analysis.tables.ops import Op, OpTable
from paddle_lab.analysis.tables.tensors import Tensor
from paddle_lab.programs.pir_json import DTYPES
from paddle_lab.trace.record import Record

_CODES: Final = {dtype: code for code, dtype in DTYPES.items()}

_ATTRIBUTE: Final = re.compile(r"(\w+)=(.*?)(?:, (?=\w+=)|$)")


def netron_model(record: Record) -> str:
    """Return the text of a file for Netron.

    Parameters
    ----------
    record
        A record with answer tables.
    """
    made: set[int] = set()
    ops: list[dict[str, Any]] = []
    for op in OpTable(record):
        for tensor in op.inputs:
            if tensor.key not in made:
                made.add(tensor.key)
                ops.append(_source(tensor))
        made.update(tensor.key for tensor in op.outputs)
        ops.append(_op(op))
    block = {"#": "block_0", "args": [], "ops": ops}
    program = {"regions": [{"#": "region_0", "blocks": [block]}]}
    base = {"magic": "pir", "trainable": False, "version": 4}
    return json.dumps({"base_code": base, "program": program}, ensure_ascii=False)


def _source(tensor: Tensor) -> dict[str, Any]:
    """Return an op that stands for a parameter or for data from outside of the graph."""
    name = tensor.path or tensor.name or f"tensor_{tensor.key}"
    if tensor.kind in ("parameter", "buffer"):
        flags = {"A": [0, 1, 1, name], "DA": [], "OA": [1, 0, 1], "QA": []}
        return {"#": "p", **flags, "O": _value(tensor)}
    made = {"I": [], "O": [_value(tensor)], "OA": []}
    return {"#": "1.data", "A": [_attribute("name", name)], **made}


def _op(op: Op) -> dict[str, Any]:
    told = {"layer": op.layer, "line": op.where}
    if op.file:
        told |= {"file": f"{op.file}:{op.line}", "cell": "" if op.cell is None else str(op.cell)}
    told |= dict(_ATTRIBUTE.findall(op.attributes))
    return {
        "#": f"1.{op.name}",
        "A": [_attribute(name, text) for name, text in told.items() if text],
        "I": [{"%": tensor.key + 1} for tensor in op.inputs],
        "O": [_value(tensor) for tensor in op.outputs],
        "OA": [],
    }


def _attribute(name: str, text: str) -> dict[str, Any]:
    return {"AT": {"#": "0.a_str", "D": text}, "N": name}


def _value(tensor: Tensor) -> dict[str, Any]:
    dtype = {"#": f"0.t_{_CODES.get(tensor.dtype, tensor.dtype)}"}
    shape = {"#": "0.t_dtensor", "D": [dtype, list(tensor.shape or ()), "NCHW", [], 0]}
    return {"%": tensor.key + 1, "TT": shape}
