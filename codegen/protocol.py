"""The TypeScript definitions of the record's schema, formatted as Biome formats them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from paddle_lab.trace.pack import MAGIC
from paddle_lab.trace.schema import ENUMERATIONS, FORMAT_VERSION, UNSEEN_TABLES, VIEW_TABLES

_LINE_LENGTH: Final = 100
_NOT_IN_A_PAGE: Final = {"grad_roots", "program_texts", *UNSEEN_TABLES}
"""Tables that the page does not load, because no view reads them."""
_ONLY_THERE: Final = {"event_kind"}
"""Enumerations that only these tables use."""
_HEAD: Final = """\
/**
 * Tables, columns and enumerations of a record that a page reads. `make generate` writes this file
 * from `paddle_lab/trace/schema.py`, which says what each of them means.
 */

"""
_COLUMN_TYPES: Final = """\
/**
 * Columns of 64-bit integers (`i64`) are held as doubles: exact up to 2^53, 104 days in ns. `enum`
 * is followed by the number of the enumeration's words.
 */
export type ColumnType =
  | "str"
  | "bool"
  | "i32"
  | "i64"
  | "f32"
  | `key:${string}`
  | `enum:${number}`;

"""
_NAMES: Final = """\

export type TableName = keyof typeof TABLES;
export type ColumnName<T extends TableName> = keyof (typeof TABLES)[T] & string;
"""


def protocol() -> str:
    """Return the text of ``js/src/trace/protocol.ts``."""
    enumerations = {name: words for name, words in ENUMERATIONS.items() if name not in _ONLY_THERE}
    return "".join(
        (
            _HEAD,
            f"export const FORMAT_VERSION = {FORMAT_VERSION};\n",
            _constant("MAGIC", [f"0x{byte:02x}" for byte in MAGIC]),
            "\n",
            *(
                _constant(_plural(name), [f'"{word}"' for word in words])
                for name, words in enumerations.items()
            ),
            "\n",
            _COLUMN_TYPES,
            "/** Maps each table to its columns, and each column to its type. */\n",
            _tables(),
            _NAMES,
        )
    )


def _plural(name: str) -> str:
    """Return the name of an enumeration's constant: ``PHASES`` for ``phase``."""
    upper = name.upper()
    return f"{upper[:-1]}IES" if upper.endswith("Y") else f"{upper}S"


def _constant(name: str, value: Sequence[str] | Mapping[str, str]) -> str:
    start, end = f"export const {name} = ", " as const;"
    return start + _wrapped(value, before=len(start), after=len(end), indent="") + end + "\n"


def _tables() -> str:
    lines = []
    for table, columns in VIEW_TABLES.items():
        if table in _NOT_IN_A_PAGE:
            continue
        start = f"  {table}: "
        quoted = {column: f'"{_type(kind)}"' for column, kind in columns.items()}
        lines.append(start + _wrapped(quoted, before=len(start), after=1, indent="  ") + ",\n")
    ending = "} as const satisfies Record<string, Record<string, ColumnType>>;\n"
    return "export const TABLES = {\n" + "".join(lines) + ending


def _type(kind: str) -> str:
    """Return the type of a column in the page: ``enum:3`` for ``enum:phase``."""
    name = kind.removeprefix("enum:")
    return kind if name == kind else f"enum:{len(ENUMERATIONS[name])}"


def _wrapped(
    value: Sequence[str] | Mapping[str, str], *, before: int, after: int, indent: str
) -> str:
    """Return a list or an object: on one line if it fits, else with one item per line."""
    if isinstance(value, Mapping):
        items = [f"{key}: {item}" for key, item in value.items()]
        opening, closing, space = "{", "}", " "
    else:
        items, opening, closing, space = list(value), "[", "]", ""
    line = f"{opening}{space}{', '.join(items)}{space}{closing}"
    if before + len(line) + after <= _LINE_LENGTH:
        return line
    lines = "".join(f"{indent}  {item},\n" for item in items)
    return f"{opening}\n{lines}{indent}{closing}"
