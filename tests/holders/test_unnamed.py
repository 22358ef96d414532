"""What holds an object if no name leads to it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from paddle_lab.holders.frames import open_call
from paddle_lab.holders.roots import Root, module_roots
from paddle_lab.holders.search import HolderSearch


class Sought:
    """An object that the searches look for."""


class Node:
    """Part of a cycle."""

    def __init__(self) -> None:
        self.other: Any = None


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Only objects that the test itself left behind can be found."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def unnamed(*roots: Root) -> set[str]:
    search = HolderSearch(lambda kind: issubclass(kind, Sought), budget_s=60.0)
    search.walk(roots)
    search.walk(module_roots(libraries=False))
    search.walk(module_roots(libraries=True), enters_libraries=True)
    known = len(search.holdings)
    search.walk_unnamed()
    return {holding.name for holding in search.holdings[known:]}


def make_cycle(held: Any) -> Node:
    first, second = Node(), Node()
    first.other, second.other = [second], [first, held]
    return first


@pytest.mark.usefixtures("uncollected")
def test_a_cycle_that_waits_for_the_collector_is_told_as_that() -> None:
    make_cycle(Sought())
    assert unnamed() == {"<Node>.other[1] (in an uncollected reference cycle)"}
    gc.collect()
    assert unnamed() == set()


@pytest.mark.usefixtures("uncollected")
def test_a_cycle_that_somebody_holds_is_no_garbage() -> None:
    kept = make_cycle(Sought())  # which no name of a module leads to
    assert unnamed() == {"<Node>.other[1] (which no name leads to)"}
    assert unnamed(Root("variable", "kept", kept)) == set()


@pytest.mark.usefixtures("uncollected")
def test_a_hook_is_told_by_its_function() -> None:
    def register(held: Sought) -> Any:
        return lambda: held

    hook = register(Sought())
    (name,) = unnamed()
    qualified = "test_a_hook_is_told_by_its_function.<locals>.register.<locals>.<lambda>"
    assert name == f"<{qualified}> (its closure's held) (which no name leads to)"
    del hook


@pytest.mark.usefixtures("uncollected")
def test_what_the_collector_does_not_know_is_looked_into() -> None:
    def register(held: np.datetime64) -> Any:
        return lambda kept=held: kept

    hook: Any = register(np.datetime64(1, "s"))
    gc.collect()
    assert not gc.is_tracked(hook.__defaults__)  # tensors are no more known to the collector
    search = HolderSearch(lambda kind: issubclass(kind, np.datetime64), budget_s=60.0)
    search.walk_unnamed()
    names = [holding.name for holding in search.holdings]
    assert any("<lambda>>.__defaults__[0] (which no name leads to)" in name for name in names)


@pytest.mark.timeout(120)
@pytest.mark.usefixtures("uncollected")
def test_a_long_list_of_objects_is_gone_through_once() -> None:
    def register(held: Sought) -> Any:
        return lambda: held

    hook = register(Sought())
    many: list[Any] = [[] for _ in range(200_000)]  # once for each, it would take hours
    (name,) = unnamed()
    assert "register" in name
    assert len(many) == 200_000
    del hook


@pytest.mark.usefixtures("uncollected")
def test_what_the_search_itself_keeps_is_nobodys() -> None:
    kept = Sought()
    search = HolderSearch(lambda kind: issubclass(kind, Sought), budget_s=60.0)
    search.walk([Root("variable", "kept", [kept, {"again": kept}])])
    search.walk_unnamed()
    assert {holding.name for holding in search.holdings} == {"kept[0]", "kept[1]['again']"}


def test_looking_at_a_call_that_waits_prolongs_no_life_and_keeps_what_locals_gave() -> None:
    def produce(kept: Any) -> Iterator[Any]:
        yield locals()
        given = locals()
        given["mine"] = 1
        yield given

    running: Any = produce(3)
    next(running)
    assert open_call(running.gi_frame).variables == {"kept": 3}
    given = next(running)
    assert open_call(running.gi_frame).variables["kept"] == 3
    assert (given["mine"], given["kept"]) == (1, 3)
