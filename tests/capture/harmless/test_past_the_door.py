"""Only the door uses names of Paddle that are not in its public documentation."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddle_lab.capture.door.table import FEATURES

PACKAGE = Path(__file__).parents[3] / "paddle_lab"
DOOR = PACKAGE / "capture" / "door"
NAMES = {name: path for names, _ in FEATURES.values() for name, path in names.items()}

# Names that Paddle Lab itself or Python uses.
COMMON = {
    "__call__", "_program", "_instances", "Assert", "addr", "apply", "core", "create", "end_ns",
    "generator", "get_instructions", "legacy", "name", "ops", "place",
    "prepare", "program", "PyLayer", "start", "start_ns", "stop", "type",
}  # fmt: skip
GUARDED = {path.rpartition(".")[2] for path in NAMES.values()} - COMMON

EVENTS = "capture/memory/log/event_tree.py"
LIVE_CHART = "capture/memory/counters.py"
ALLOWED = {
    # Millions of events are read by attribute. The table has the names, so the feature is off
    # where one is missing.
    EVENTS: ("children_node", "current_allocated", "current_reserved", "device_id", "device_node",
             "increase_bytes", "mem_node", "runtime_node", "timestamp_ns"),
    "capture/memory/log/allocator_log.py": ("trace_switch",),  # which is set, not read
    "capture/breaks/explain.py": ("trace_switch",),
    "capture/memory/log/reading.py": ("get_data",),
    # This module looks for Paddle without importing it, and has no value if a counter is missing.
    LIVE_CHART: ("paddle.base.core",),
    # Translated code calls the function by this name.
    "capture/export/guarded_source.py": ("AsDtype",),
    # This module writes the name into a file.
    "interchange/api_config.py": ("paddle._C_ops.",),
    # How to write what the garbage collector finds; the layers are not asked.
    "holders/names.py": ("_parameters", "_sub_layers", "_buffers"),
}  # fmt: skip

PRIVATE_PLACE = re.compile(r"paddle\.(base\b|_(?!_)).*")


def reaches(source: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a module that reach past the door, and what they reach for."""
    tree = ast.parse(source)
    prose = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            is_at_door = isinstance(node.value, ast.Name) and node.value.id == "DOOR"
            if not is_at_door and node.attr in GUARDED:
                yield node.lineno, node.attr
            if PRIVATE_PLACE.fullmatch(ast.unparse(node)):
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            is_name = node.value in GUARDED and node.value not in NAMES
            if id(node) not in prose and (is_name or PRIVATE_PLACE.fullmatch(node.value)):
                yield node.lineno, node.value
        elif isinstance(node, ast.ImportFrom) and PRIVATE_PLACE.fullmatch(node.module or ""):
            yield node.lineno, node.module or ""
        elif isinstance(node, ast.ImportFrom) and node.module == "paddle":
            yield from ((node.lineno, one.name) for one in node.names if one.name[0] == "_")


def is_allowed(file: Path, reached: str) -> bool:
    return any(
        reached in names
        for pattern, names in ALLOWED.items()
        if file.match(f"paddle_lab/{pattern}")
    )


@pytest.mark.parametrize(
    "line",
    [
        "tensor._is_initialized()",
        "paddle.base.core.eager.run_backward",
        "core.host_memory_stat_current_value",
        "getattr(tensor, '_holder_size')",
        "from paddle.base import core",
        "from paddle import _C_ops",
    ],
)
def test_a_line_that_reaches_past_the_door_is_found(line: str) -> None:
    assert list(reaches(line))


def test_no_module_reaches_past_the_door() -> None:
    found = [
        f"{file.relative_to(PACKAGE)}:{line}: {reached}"
        for file in sorted(PACKAGE.rglob("*.py"))
        if DOOR not in file.parents
        for line, reached in reaches(file.read_text(encoding="utf-8"))
        if not is_allowed(file, reached)
    ]
    assert found == []


def test_what_the_native_part_looks_up_stands_in_the_table() -> None:
    """Its names are strings; without one of them the feature is off and nobody calls it."""
    paths = {path.rpartition(".")[2] for path in NAMES.values()}
    found = [
        f"{file.name}: {name}"
        for file in sorted(PACKAGE.rglob("*.c"))
        for name in re.findall(r'"(_[a-z]\w*)"', file.read_text(encoding="utf-8"))
        if name not in paths and not name.startswith("__") and name != "_native"
    ]
    assert found == []


def test_what_is_asked_at_the_door_stands_in_the_table() -> None:
    """All names and features that code asks the door for are in its table."""
    asked = {
        name
        for file in PACKAGE.rglob("*.py")
        for name in re.findall(r"\bDOOR\.(\w+)", file.read_text(encoding="utf-8"))
    }
    features = {
        name
        for file in PACKAGE.rglob("*.py")
        for name in re.findall(r'\bDOOR\.has\("(\w+)"\)', file.read_text(encoding="utf-8"))
    }
    assert asked - {"has", "lacking", "notices", "failure_notice", "now", "patch"} <= set(NAMES)
    assert features <= set(FEATURES)


def test_the_table_has_a_name_for_each_path() -> None:
    assert len(NAMES) == sum(len(names) for names, _ in FEATURES.values())
    assert len(set(NAMES.values())) == len(NAMES) >= 40
