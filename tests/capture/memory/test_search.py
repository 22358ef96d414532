"""Searches among very many objects, by identity and by type."""

from __future__ import annotations

from types import ModuleType

from paddle_lab.capture.hooks.search import instances_among, namespaces_with


class Base:
    pass


class Derived(Base):
    pass


class Kind(ModuleType):
    pass


class Posing:
    """An object that claims to be a module, as the proxies of some libraries do."""

    __class__ = ModuleType


def test_namespaces_that_hold_an_object_are_found():
    wanted = [object() for _ in range(300)]
    equal = [1000 + len(wanted)], [1000 + len(wanted)]
    many = {str(number): object() for number in range(500)}
    modules = [ModuleType("empty"), ModuleType("one"), ModuleType("many"), Kind("kind"), Posing()]
    modules[1].wanted = modules[3].wanted = modules[4].wanted = wanted[7]
    vars(modules[2]).update(many)
    last = ModuleType("last")
    vars(last).update({**many, "last": wanted[299]}, equal=equal[1])
    entries = [None, *modules, {"no module": wanted[7]}, last]
    found = namespaces_with(entries, [*wanted, equal[0]])
    assert [id(one) for one in found] == [
        id(vars(one)) for one in (modules[1], modules[3], modules[4], last)
    ]
    assert namespaces_with(entries, []) == []


def test_instances_of_a_type_are_found_and_no_others():
    one, two = Base(), Derived()
    objects = [1, one, "text", two, Base, None]
    assert instances_among(objects, [Base]) == [one]
    assert instances_among(objects, [Base, Derived]) == [one, two]
    assert instances_among(objects, []) == []
