"""The C header with the constants that the native part shares with Python."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Final

from paddle_lab.capture import native
from paddle_lab.capture.evidence.values.scan import KINDS
from paddle_lab.capture.rows import cells
from paddle_lab.capture.turns import loops
from paddle_lab.flights.layout import KEY_KINDS
from paddle_lab.trace.schema import PHASES, SCOPE_KINDS, TENSOR_KINDS

_NUMBERS: Final = {
    "NATIVE_VERSION": native.VERSION,
    "NO_KEY": cells.NO_KEY,
    "VERSION_BITS": cells.VERSION_BITS,
    "LARGEST_VERSION": cells.LARGEST_VERSION,
    "NO_VERSION": cells.NO_VERSION,
    "IS_HEADER": loops.IS_HEADER,
    "IS_REPEATING": loops.IS_REPEATING,
}
_ROWS: Final[dict[str, type[IntEnum]]] = {
    "OP": cells.OpCell,
    "TENSOR": cells.TensorCell,
    "SCOPE": cells.ScopeCell,
    "TURN": cells.TurnCell,
    "NODE": cells.NodeCell,
    "EDGE": cells.EdgeCell,
    "ROOT": cells.RootCell,
}
_ENUMERATIONS: Final[dict[str, tuple[str, ...]]] = {
    "TENSOR_KIND": TENSOR_KINDS,
    "SCOPE_KIND": SCOPE_KINDS,
    "PHASE": PHASES,
    "ELEMENT": KINDS,
    "FLIGHT_KIND": KEY_KINDS,
}
_HEAD: Final = """\
/* The constants that C and Python share. `make generate` writes this file from
 * capture/native/__init__.py, capture/rows/cells.py, capture/turns/loops.py,
 * capture/evidence/values/scan.py, flights/layout.py and trace/schema.py. */
#ifndef PADDLE_LAB_CONSTANTS_H
#define PADDLE_LAB_CONSTANTS_H

"""


def native_constants() -> str:
    """Return the text of ``paddle_lab/capture/native/constants.h``."""
    numbers = "".join(
        f"#define {name} {value if value >= 0 else f'({value})'}\n"
        for name, value in _NUMBERS.items()
    )
    cells = (
        _enum(prefix, (cell.name for cell in row), count=f"{prefix}_CELLS")
        for prefix, row in _ROWS.items()
    )
    enumerations = (
        _enum(prefix, (name.upper() for name in names), count=f"{prefix}S")
        for prefix, names in _ENUMERATIONS.items()
    )
    return "\n".join((_HEAD + numbers, *cells, *enumerations, "#endif\n"))


def _enum(prefix: str, names: Iterable[str], *, count: str) -> str:
    """Return a C enumeration; its last constant is the number of the others."""
    constants = [*(f"{prefix}_{name}" for name in names), count]
    return "enum {\n" + "".join(f"    {name},\n" for name in constants) + "};\n"
