"""The names and defaults of the parameters of Paddle's ops.

``paddle._C_ops`` takes arguments by position, and does not provide their names. But every wheel of
Paddle has a C++ header with the names: ``paddle/phi/api/include/api.h``. It is generated from the
same description of the ops, so the order is the same. The header of the installed Paddle is read.
Some ops are called without a Python function around them (``paddle.argmax``), and may have another
order of arguments. They have a signature in Python, which is preferred.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from paddle_lab.capture.door import DOOR

_HEADERS = {"api.h": "", "fused_api.h": "", "sparse_api.h": "sparse_"}
"""Maps a header file to the prefix that the names of its ops have in ``_C_ops``."""
_DECLARATION = re.compile(r"^PADDLE_API [^(]*?(\w+)\((.*)\);$", re.MULTILINE)
_TENSOR = re.compile(r"\bTensor\b")
_NUMBER = re.compile(r"-?(\d+\.?\d*|\.\d+)(e-?\d+)?[fL]?", re.IGNORECASE)


@dataclass(frozen=True)
class Parameter:
    """One parameter of an op.

    Attributes
    ----------
    kind
        The type in C++ without ``const`` and ``&``; ``""`` if the parameter is declared in Python.
    default
        The default as Python code; ``""`` if there is none, or if it cannot be translated.
    """

    name: str
    kind: str
    default: str

    @property
    def is_tensor(self) -> bool:
        """Whether the parameter takes tensors."""
        return _TENSOR.search(self.kind) is not None


@cache
def signature_of(name: str) -> tuple[Parameter, ...]:
    """Return the parameters of an op of ``paddle._C_ops``, by position; none if undeclared."""
    parameters = _python_parameters(name)
    if parameters is None:
        parameters = tuple(_cpp_parameters(_declarations().get(name, "")))
    return parameters


@cache
def _declarations() -> dict[str, str]:
    """Return the parameters of every op as text, read from the op's C++ declaration."""
    import paddle

    folder = Path(paddle.sysconfig.get_include(), "paddle", "phi", "api", "include")
    found: dict[str, str] = {}
    for header, prefix in _HEADERS.items():
        try:
            text = (folder / header).read_text(encoding="utf-8")
        except OSError:  # Paddle is installed without its headers
            continue
        for match in _DECLARATION.finditer(text):
            found.setdefault(prefix + match[1], match[2])
    return found


def _cpp_parameters(text: str) -> Iterator[Parameter]:
    for part in _parts(text):
        declared, _, default = part.partition("=")
        kind, _, name = declared.strip().rpartition(" ")
        kind = kind.removeprefix("const ").removesuffix("&")
        if name == "predefined_out":
            return  # ``out`` in Python can only be a keyword argument
        if not default and kind.startswith("paddle::optional"):
            default = "paddle::none"
        yield Parameter(name, kind, _python_value(default.strip(), kind))


def _parts(text: str) -> Iterator[str]:
    """Split at commas that are not inside brackets."""
    text = text.replace("<<", "  ")  # a bit shift, not a bracket
    depth = start = 0
    for position, character in enumerate(text):
        if character in "<({":
            depth += 1
        elif character in ">)}":
            depth -= 1
        elif character == "," and depth == 0:
            yield text[start:position].strip()
            start = position + 1
    if text[start:].strip():
        yield text[start:].strip()


def _python_value(default: str, kind: str) -> str:
    if default in ("true", "false"):
        return default.title()
    if default in ("paddle::none", "DataType::UNDEFINED"):
        return "None"
    if default.startswith("DataType::"):
        return f"paddle.{default.removeprefix('DataType::').lower()}"
    if default.startswith("{") and kind != "Place":
        return "[" + ", ".join(_python_value(one, "") for one in _parts(default[1:-1])) + "]"
    if default.startswith('"'):
        return repr(default[1:-1])
    if _NUMBER.fullmatch(default):
        number = default.rstrip("fFL")
        return repr(float(number)) if kind in ("float", "double") or "." in number else number
    return ""


def _python_parameters(name: str) -> tuple[Parameter, ...] | None:
    """Return the Python declaration of an op that users call directly, None if there is none."""
    declared: Any = getattr(_declared_in_python().get(name), "__signature__", None)
    if declared is None:
        return None
    return tuple(
        Parameter(
            one.name,
            "Tensor" if "Tensor" in str(one.annotation) else "",
            "" if one.default is inspect.Parameter.empty else repr(one.default),
        )
        for one in declared.parameters.values()
        if one.kind is not inspect.Parameter.KEYWORD_ONLY
    )


@cache
def _declared_in_python() -> dict[str, Any]:
    if not DOOR.has("argument_names"):
        return {}
    maps = DOOR.documented_methods, DOOR.documented_functions, DOOR.documented_layers
    try:
        return {name: function for one in maps for name, function in dict(one).items()}
    except (TypeError, ValueError):
        return {}
