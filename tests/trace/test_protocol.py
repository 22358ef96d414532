"""The front end's mirror of the schema says what the schema says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from paddle_lab.trace.schema import ENUMERATIONS, FORMAT_VERSION, VIEW_TABLES

SOURCE = Path(__file__).parents[2] / "js/src"


def constant(file: str, name: str) -> Any:
    """Return a constant of a TypeScript file; what is computed there is its name."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", (SOURCE / file).read_text(), flags=re.DOTALL)
    found = re.search(rf"export const {name}\b[^=]* = (.*?)(?: as const)?;\n", text, re.DOTALL)
    assert found is not None, f"{file} has no {name}"
    literal = re.sub(r"(\w+):", r'"\1":', found[1])
    literal = re.sub(r"\b([A-Z_]+)\.length", r'"\1"', literal)
    return json.loads(re.sub(r",(\s*[}\]])", r"\1", literal))


def columns_of(*types: str) -> dict[str, dict[str, str]]:
    """Return the columns of these types with what their type names, table by table."""
    found = {
        table: {
            column: kind.partition(":")[2]
            for column, kind in columns.items()
            if kind.startswith(types)
        }
        for table, columns in VIEW_TABLES.items()
    }
    return {table: columns for table, columns in found.items() if columns}


def enumeration(name: str) -> str:
    """Return what the front end calls an enumeration: ``"PHASES"`` for ``"phase"``."""
    return "SEVERITIES" if name == "severity" else f"{name.upper()}S"


def test_both_read_the_same_format() -> None:
    assert constant("protocol.ts", "FORMAT_VERSION") == FORMAT_VERSION


@pytest.mark.parametrize("name", ENUMERATIONS)
def test_enumerations_have_the_same_words_in_the_same_order(name: str) -> None:
    assert constant("protocol.ts", enumeration(name)) == list(ENUMERATIONS[name])


def test_tables_have_the_same_columns() -> None:
    mirrored = constant("protocol.ts", "TABLES")
    assert mirrored == {table: list(columns) for table, columns in VIEW_TABLES.items()}


@pytest.mark.parametrize(("name", "kind"), [("TEXT_COLUMNS", "str"), ("WIDE_COLUMNS", "i64")])
def test_columns_are_read_as_what_they_hold(name: str, kind: str) -> None:
    mirrored = constant("model/columns.ts", name)
    assert mirrored == {table: list(columns) for table, columns in columns_of(kind).items()}


def test_keys_are_held_to_the_tables_that_they_point_into() -> None:
    assert constant("model/columns.ts", "KEY_COLUMNS") == columns_of("key:")


def test_enumerated_columns_are_held_to_their_enumerations() -> None:
    mirrored = constant("model/columns.ts", "ENUM_SIZES")
    assert mirrored == {
        table: {column: enumeration(name) for column, name in columns.items()}
        for table, columns in columns_of("enum:").items()
    }
