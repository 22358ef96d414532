"""The package has no circular imports; imports for types alone count, too."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import paddle_lab

PACKAGE = Path(paddle_lab.__file__).parent
PATHS = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                module = f"{node.module}.{name.name}"
                yield module if module in PATHS else node.module


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {
        module: {other for other in imported(path) if other in PATHS} - {module}
        for module, path in PATHS.items()
    }
    assert len(graph) > 300
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle
