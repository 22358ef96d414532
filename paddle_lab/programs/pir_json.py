"""Reads the programs that ``paddle.jit.save`` and ``paddle.static.save_inference_model`` write.

Such a file is JSON with short keys: ``#`` is a name or a type, ``%`` the number of a value, ``I``
and ``O`` are inputs and outputs, ``A`` are attributes, ``TT`` and ``AT`` are types of values and of
attributes. The name of an op begins with the number of its dialect: ``1.matmul`` is
``pd_op.matmul``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from paddle_lab.programs.program import Block, Op, Program, Stack, Value
from paddle_lab.trace.record import TraceFileError
from paddle_lab.trace.row_writer import Frame
from paddle_lab.trace.schema import FRAME_KINDS
from paddle_lab.words import say

NEWEST_VERSION: Final = 4
"""The newest version that this reader was tested with."""
_DIALECTS: Final = ("builtin", "pd_op", "cf", "custom_op", "dist")
DTYPES: Final = {
    "b": "bool",
    "bf16": "bfloat16",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "i8": "int8",
    "u8": "uint8",
    "ui8": "uint8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "c64": "complex64",
    "c128": "complex128",
    "f8e4m3": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
}
LABELS: Final = ("parameter_name", "name", "output_name")
_LINES: Final = {"layer", "line", "file", "cell"}
"""What :mod:`paddle_lab.interchange.netron` adds to the attributes of an op."""
_HIDDEN: Final = {*LABELS, "stop_gradient", "persistable", "struct_name", "op_callstack", "place"}


def read_program(path: Path) -> tuple[Program, int]:
    """Read a saved program and the version of its format.

    Raises
    ------
    TraceFileError
        If the file is not a program of Paddle's, or is damaged.
    OSError
        If there is no such file, or the file cannot be read.
    """
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise TraceFileError(say("errors.program.damaged", path=path)) from None
    base = document.get("base_code") if isinstance(document, dict) else None
    if not isinstance(base, dict) or base.get("magic") != "pir" or "program" not in document:
        raise TraceFileError(say("errors.program.foreign", path=path))
    version = base.get("version")
    number = version if isinstance(version, int) else 0
    try:
        values: list[Value] = []
        (region,) = document["program"]["regions"]
        (block,) = region["blocks"]
        return Program(_block(block, {}, values), values=values), number
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        key = "newer" if number > NEWEST_VERSION else "damaged"
        raise TraceFileError(say(f"errors.program.{key}", path=path)) from None


def _block(data: dict[str, Any], outer: Mapping[int, int], values: list[Value]) -> Block:
    keys = dict(outer)
    arguments = [_new(keys, given["#"], given["TT"], values) for given in data["args"]]
    ops = [_op(op, keys, values) for op in data["ops"]]
    return Block(ops, arguments)


def _op(data: dict[str, Any], keys: dict[int, int], values: list[Value]) -> Op:
    if data["#"] == "p":
        # The attributes of a parameter are a list: is_distributed, is_parameter, need_clip, name.
        made, (_, stops, trainable) = data["O"], data["OA"]
        output = _new(keys, made["%"], made["TT"], values, stops=bool(stops))
        label, is_trainable = str(data["A"][3]), bool(trainable)
        return Op("builtin.parameter", [], [output], label=label, is_trainable=is_trainable)
    dialect, _, name = data["#"].partition(".")
    name = f"{_DIALECTS[int(dialect)]}.{name}" if dialect.isdigit() else data["#"]
    given = {entry["N"]: entry["AT"].get("D") for entry in data["A"]}
    stops = [entry["AT"].get("D") for entry in data.get("OA", ()) if entry["N"] == "stop_gradient"]
    is_stopped = (_plain(stops[0]) if stops else None) or []
    inputs = [keys.get(entry["%"], -1) for entry in data["I"]]
    regions = data.get("regions", ())
    blocks = [_block(block, keys, values) for region in regions for block in region["blocks"]]
    outputs = [
        _new(keys, entry["%"], entry["TT"], values, stops=bool(stop))
        for entry, stop in zip(data["O"], [*is_stopped, *[True] * len(data["O"])], strict=False)
    ]
    label = next((str(given[key]) for key in LABELS if key in given), "")
    stack = _stack(given)
    hidden = _HIDDEN | _LINES if stack else _HIDDEN
    shown = {
        key: attribute_text(_plain(value)) for key, value in given.items() if key not in hidden
    }
    return Op(
        name,
        inputs,
        outputs,
        shown,
        label=label or shown.get("value", ""),
        layer=str(given.get("struct_name") or given.get("layer") or "").replace(".", "/"),
        blocks=blocks,
        stack=stack,
    )


def _stack(given: dict[str, Any]) -> Stack:
    """Return the line that :mod:`paddle_lab.interchange.netron` wrote."""
    file, _, line = str(given.get("file", "")).rpartition(":")
    if not file or not line.isdigit():
        return ()
    return (Frame(file, int(line), "", FRAME_KINDS.index("user"), int(given.get("cell", -1))),)


def _new(
    keys: dict[int, int], number: int, kind: Any, values: list[Value], *, stops: bool = True
) -> int:
    """Add a value, and return its key. Return -1 for an output that does not exist."""
    value = _value(kind, stops=stops)
    if value is None:
        return -1
    keys[number] = len(values)
    values.append(value)
    return keys[number]


def _value(kind: Any, *, stops: bool) -> Value | None:
    name = kind.get("#", "NULL") if isinstance(kind, dict) else "NULL"
    data = kind.get("D") if isinstance(kind, dict) else None
    if name == "NULL":
        return None
    if name.endswith("t_vec"):
        items = [_value(item, stops=stops) for item in data or ()]
        return Value("", None, stops, tuple(item for item in items if item is not None))
    if isinstance(data, list) and len(data) > 1 and isinstance(data[1], list):
        dtype = data[0]["#"].rpartition("t_")[2]
        return Value(DTYPES.get(dtype, dtype), tuple(map(int, data[1])), stops)
    return Value(name.rpartition("t_")[2], None, stops)


def _plain(data: Any) -> Any:
    """Return the value of an attribute, without the types of its items."""
    if isinstance(data, list):
        return [_plain(item) for item in data]
    if isinstance(data, dict):
        return _plain(data.get("D"))
    return data


def attribute_text(value: Any) -> str:
    """Return an attribute as readable text."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(attribute_text, value))}]"
    name = getattr(value, "name", None)  # for an enumeration, such as DataType.FLOAT32
    return name.lower() if isinstance(name, str) else str(value)
