"""Objects are found among very many by identity and by type."""

from __future__ import annotations

from paddle_lab.capture.search import instances_among, namespaces_with


class Base:
    pass


class Derived(Base):
    pass


def test_namespaces_that_hold_an_object_are_found():
    wanted = [object() for _ in range(300)]
    equal = [1000 + len(wanted)], [1000 + len(wanted)]
    holding = {"a": 1, "b": wanted[7]}
    many = {str(number): object() for number in range(500)}
    late = {**many, "last": wanted[299]}
    namespaces = [{}, holding, many, late, {"equal": equal[1]}]
    assert namespaces_with(namespaces, [*wanted, equal[0]]) == [holding, late]
    assert namespaces_with(namespaces, []) == []


def test_instances_of_a_type_are_found_and_no_others():
    one, two = Base(), Derived()
    objects = [1, one, "text", two, Base, None]
    assert instances_among(objects, [Base]) == [one]
    assert instances_among(objects, [Base, Derived]) == [one, two]
    assert instances_among(objects, []) == []
