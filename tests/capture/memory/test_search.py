"""Searches among very many objects, by identity and by type."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import pytest

from paddle_lab.capture.hooks.search import instances_among, module_namespaces
from tests.capture.native.twins import on_both_twins


class Base:
    pass


class Derived(Base):
    pass


class Kind(ModuleType):
    pass


class Posing:
    """An object that claims to be a module, as the proxies of some libraries do."""

    __class__ = ModuleType


@on_both_twins
def test_bindings_of_objects_are_found(parts):
    wanted = [object() for _ in range(300)]
    equal = [1000 + len(wanted)], [1000 + len(wanted)]
    many = {str(number): object() for number in range(500)}
    one = {"wanted": wanted[7]}
    last = {**many, "last": wanted[299], "equal": equal[1], "again": wanted[7]}
    found = parts.bindings([{}, one, many, last], [*wanted, equal[0]])
    assert [(id(space), *rest) for space, *rest in found] == [
        (id(one), "wanted", wanted[7]), (id(last), "last", wanted[299]),
        (id(last), "again", wanted[7]),
    ]  # fmt: skip
    assert parts.bindings([one, last], []) == []


def test_only_modules_have_a_namespace(monkeypatch):
    entries = [ModuleType("one"), Kind("kind"), Posing(), None, {"no": "module"}]
    for number, entry in enumerate(entries):
        monkeypatch.setitem(sys.modules, f"an entry {number}", entry)
    found = set(map(id, module_namespaces()))
    assert [id(getattr(entry, "__dict__", entry)) in found for entry in entries] == [
        True, True, False, False, False,
    ]  # fmt: skip


def test_a_lazy_module_stays_unloaded(monkeypatch, tmp_path):
    (tmp_path / "lazy.py").write_text("raise ImportError('an optional package is missing')")
    spec = importlib.util.spec_from_file_location("lazy", tmp_path / "lazy.py")
    spec.loader = importlib.util.LazyLoader(spec.loader)
    lazy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lazy)
    monkeypatch.setitem(sys.modules, "lazy", lazy)
    names = [space.get("__name__") for space in module_namespaces()]
    assert "lazy" in names
    with pytest.raises(ImportError, match="optional"):
        _ = lazy.anything


def test_instances_of_a_type_are_found_and_no_others():
    one, two = Base(), Derived()
    objects = [1, one, "text", two, Base, None]
    assert instances_among(objects, [Base]) == [one]
    assert instances_among(objects, [Base, Derived]) == [one, two]
    assert instances_among(objects, []) == []
