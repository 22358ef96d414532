"""``_native.pyi`` declares the names of the native module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddle_lab.capture import native
from paddle_lab.capture.native import NATIVE

pytestmark = pytest.mark.skipif(NATIVE is None, reason="the native part was not built")

STUB = ast.parse((Path(native.__file__).parent / "_native.pyi").read_text())
DEFINED = {
    node.name: node for node in STUB.body if isinstance(node, ast.ClassDef | ast.FunctionDef)
}
# Names that every class has, and names that no stub contains.
INHERITED = {"__new__", "__init__", "__doc__", "__dict__"}


def members(name: str) -> Iterator[str]:
    for node in DEFINED[name].body:
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id


def test_the_stub_names_what_the_module_has():
    assert set(DEFINED) == {name for name in vars(NATIVE) if not name.startswith("__")}
    is_class = {name: isinstance(node, ast.ClassDef) for name, node in DEFINED.items()}
    assert is_class == {name: isinstance(getattr(NATIVE, name), type) for name in DEFINED}


@pytest.mark.parametrize("name", [name for name in DEFINED if name[0].isupper()])
def test_the_stub_names_what_a_class_has(name):
    assert set(members(name)) - INHERITED == set(vars(getattr(NATIVE, name))) - INHERITED


@pytest.mark.parametrize("name", DEFINED)
def test_each_part_is_documented(name):
    assert ast.get_docstring(DEFINED[name])


def test_final_classes_cannot_be_subclassed():
    for name, node in DEFINED.items():
        if isinstance(node, ast.ClassDef):
            allowed = bool(getattr(NATIVE, name).__flags__ & (1 << 10))  # Py_TPFLAGS_BASETYPE
            assert allowed == (not node.decorator_list), name
