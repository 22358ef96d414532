"""Which names hold an object, written as a person would write them."""

from __future__ import annotations

import ctypes
import gc
import itertools
import sys
import threading
import weakref
from collections import deque
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

from paddle_lab.holders.roots import (
    Root,
    module_roots,
    output_roots,
    traceback_roots,
    variable_roots,
)
from paddle_lab.holders.search import HolderSearch


class Sought:
    """An object that the searches look for."""


class Plain:
    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)


class Slotted:
    __slots__ = ("kept", "unset")

    def __init__(self, kept: Any) -> None:
        self.kept = kept


class LayerLike:
    """Keeps its attributes as ``paddle.nn.Layer`` does."""

    def __init__(self, parameters: dict[str, Any], sub_layers: dict[str, Any]) -> None:
        self._parameters = parameters
        self._sub_layers = sub_layers

    def named_sublayers(self) -> None: ...


class Pair(NamedTuple):
    first: Any
    second: Any


def search(*roots: Root, **options: Any) -> HolderSearch:
    found = HolderSearch(lambda kind: issubclass(kind, Sought), **options)
    found.walk(roots)
    return found


def names(value: Any, kind: Any = "variable", name: str = "x") -> list[tuple[str, str]]:
    return [(held.kind, held.name) for held in search(Root(kind, name, value)).holdings]


def closed_over(kept: Any) -> Any:
    return lambda: kept


def generator_with(value: Any) -> Any:
    def produce(kept: Any) -> Any:
        yield
        del kept

    running = produce(value)
    next(running)
    return running


def thread_local_with(value: Any) -> threading.local:
    kept = threading.local()
    kept.cache = [value]
    return kept


def array_of(*values: Any) -> Any:
    array = np.empty((len(values), 2), object)
    array[:, 1] = values
    return array


SOUGHT = Sought()


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ([0, SOUGHT], "x[1]"),
        ((0, [SOUGHT]), "x[1][0]"),
        (deque([SOUGHT]), "x[0]"),
        ({"a": {3: SOUGHT}}, "x['a'][3]"),
        ({"k" * 90: SOUGHT}, f"x['{'k' * 36}…]"),
        ({Pair(1, 2): SOUGHT}, "x[<Pair>]"),
        ({SOUGHT: 1}, "x (a key)"),
        ({SOUGHT}, "x (in a set)"),
        (Pair(1, SOUGHT), "x.second"),
        (Plain(items=[0, 1, 2, SOUGHT]), "x.items[3]"),
        (Plain(a=Plain(b=SOUGHT)), "x.a.b"),
        (Slotted(SOUGHT), "x.kept"),
        (LayerLike({"weight": SOUGHT}, {}), "x.weight"),
        (
            LayerLike({}, {"blocks": LayerLike({}, {"0": LayerLike({"weight": SOUGHT}, {})})}),
            "x.blocks.0.weight",
        ),
        (Plain(_parameters={"weight": SOUGHT}), "x._parameters['weight']"),
        (partial(print, SOUGHT), "x.args[0]"),
        (Plain(kept=SOUGHT).__init__, "x.__self__.kept"),
        (closed_over(SOUGHT), "x (its closure's kept)"),
        (lambda kept=SOUGHT: kept, "x.__defaults__[0]"),
        (generator_with(SOUGHT), "kept in produce(), x"),
        (thread_local_with(SOUGHT), "x.cache[0]"),
        (array_of(0, SOUGHT), "x[1, 1]"),
        (array_of(0, SOUGHT)[:, 1], "x[1, 1]"),
        (itertools.repeat(SOUGHT), "x (in an itertools.repeat)"),
        (type("Own", (), {"cache": [SOUGHT], "__module__": "__main__"}), "x.cache[0]"),
    ],
)  # fmt: skip
def test_the_way_to_an_object_is_written_as_python(value: Any, name: str | None) -> None:
    assert names(value) == ([] if name is None else [("container", name)])


def test_a_variable_that_is_the_object_is_no_container() -> None:
    assert names(SOUGHT) == [("variable", "x")]
    assert names(SOUGHT, "output", "Out[5]") == [("output", "Out[5]")]
    assert names([SOUGHT], "output", "Out[5]") == [("output", "Out[5][0]")]


def test_every_reference_to_the_object_is_found_but_ways_to_a_container_once() -> None:
    shared = [SOUGHT]
    found = search(
        Root("variable", "a", SOUGHT), Root("variable", "b", shared), Root("output", "_", shared)
    )
    assert [held.name for held in found.holdings] == ["a", "b[0]"]


def test_a_traceback_tells_the_function_whose_variable_it_is() -> None:
    def forward(weight: Any) -> None:
        hidden = [weight]
        raise ValueError(len(hidden))

    kept: Any = None
    try:
        forward(SOUGHT)
    except ValueError as error:
        kept = error
    assert set(names(kept, "traceback", "last traceback")) == {
        ("traceback", "weight in forward(), last traceback"),
        ("traceback", "hidden[0] in forward(), last traceback"),
    }
    again = names(kept, "traceback", "last traceback")  # names are read from copies
    assert len(again) == 2


def test_a_loop_of_references_ends() -> None:
    ring: list[Any] = []
    ring.append([ring, SOUGHT])
    assert names(ring) == [("container", "x[0][1]")]


def test_a_deep_structure_is_no_problem() -> None:
    deep: Any = SOUGHT
    for _ in range(20_000):
        deep = [deep]
    ((_, name),) = names(deep)
    assert name.startswith("x[0][0]")
    assert len(name) < 300


def test_no_code_of_a_searched_object_runs() -> None:
    class Trap:
        def __init__(self) -> None:
            vars(self)["kept"] = SOUGHT

        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(name)

        def __eq__(self, other: object) -> bool:
            raise AssertionError

        def __hash__(self) -> int:
            raise AssertionError

    class TrapList(list):  # type: ignore[type-arg]
        def __iter__(self) -> Any:
            raise AssertionError

    class TrapDict(dict):  # type: ignore[type-arg]
        def items(self) -> Any:
            raise AssertionError

    trap = object.__new__(Trap)
    object.__getattribute__(trap, "__dict__")["kept"] = SOUGHT
    assert names([trap]) == [("container", "x[0].kept")]
    assert names(TrapList([SOUGHT])) == [("container", "x[0]")]
    assert names(TrapDict(a=SOUGHT)) == [("container", "x['a']")]


def test_a_module_and_what_it_imported_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("experiment")
    module.__file__ = "/somewhere/experiment.py"
    vars(module)["cache"] = Plain(items=[SOUGHT])
    library = ModuleType("library")
    vars(library)["kept"] = SOUGHT
    vars(module)["library"] = library
    monkeypatch.setitem(sys.modules, "experiment", module)
    monkeypatch.setitem(sys.modules, "library", library)

    # Modules that other tests have imported are searched, too.
    found = search(*module_roots(libraries=False), budget_s=60.0)
    by_name = {held.name: held for held in found.holdings}
    assert by_name["experiment.cache.items[0]"].kind == "container"
    assert "library.kept" not in by_name
    found.walk(module_roots(libraries=True), enters_libraries=True)
    assert "library.kept" in [held.name for held in found.holdings]


def test_a_function_does_not_lead_into_its_modules_globals() -> None:
    assert names(names) == []


def test_time_ends_the_search() -> None:
    many = [Root("variable", "x", [[SOUGHT] for _ in range(5000)])]
    late = search(*many, budget_s=-1.0)
    assert (late.holdings, late.is_complete) == ([], False)
    assert search(*many, budget_s=60.0).is_complete


def test_what_ipython_keeps_is_no_variable() -> None:
    kept = {1: SOUGHT}
    ipythons = {
        "In": [""], "_i": "", "_i1": "", "_oh": kept, "Out": kept, "_": SOUGHT, "__": "",
        "___": "", "_1": SOUGHT, "exit": 7, "startup": 9,
    }  # fmt: skip
    namespace = {**ipythons, "loss": 1, "sys": sys, "quit": 8, "_private": 2}
    hidden = {**ipythons, "quit": "another"}
    users = ["exit", "startup", "loss", "quit", "_private"]  # those of a startup file too
    assert [root.name for root in variable_roots(namespace, hidden)] == users
    assert [root.name for root in variable_roots(namespace)] == users
    assert [root.name for root in output_roots(namespace, hidden)] == [
        "Out[1]", "_", "__", "___", "_1"
    ]  # fmt: skip


def test_a_name_of_ipythons_with_another_value_is_a_variable() -> None:
    kept = {1: 3}
    hidden = {"_oh": kept, "Out": kept, "_": 3, "_1": 3, "_i": "text"}
    namespace = {"_oh": kept, "Out": SOUGHT, "_": SOUGHT, "_1": SOUGHT, "_i": SOUGHT}
    names_found = [root.name for root in variable_roots(namespace, hidden)]
    assert names_found == ["Out", "_", "_1", "_i"]
    assert [root.name for root in output_roots(namespace, hidden)] == ["Out[1]", "_", "_1"]


def test_the_last_exception_is_a_root(monkeypatch: pytest.MonkeyPatch) -> None:
    error = ValueError("kept")
    monkeypatch.setattr(sys, "last_value", error, raising=False)
    assert error in [root.value for root in traceback_roots()]
    assert "other" in [root.value for root in traceback_roots(None, "other")]


def test_a_long_list_is_named_in_one_pass() -> None:
    kept = [Sought() for _ in range(20_000)]
    found = names(kept)
    assert found[0] == ("container", "x[0]")
    assert found[-1] == ("container", "x[19999]")


def test_the_search_does_not_prolong_the_life_of_a_suspended_calls_variables() -> None:
    def produce(kept: Any) -> Any:
        yield weakref.ref(kept)
        del kept
        yield None

    running = produce(Sought())
    reference = next(running)
    # In Python 3.10 a frame itself leads to its variables.
    if sys.version_info >= (3, 11):
        assert names([running.gi_frame]) == []
    assert names(running) == [("container", "kept in produce(), x")]
    next(running)
    assert reference() is None


def test_an_array_that_shows_an_objects_memory_leads_to_the_object() -> None:
    class Memory(Sought):
        def __init__(self) -> None:
            self.bytes = ctypes.create_string_buffer(3)

        @property
        def __array_interface__(self) -> dict[str, Any]:
            data = (ctypes.addressof(self.bytes), False)
            return {"shape": (3,), "typestr": "|u1", "version": 3, "data": data}

    array = np.asarray(Memory())
    assert names({"a": array[1:]}) == [("container", "x['a'] (shares its memory)")]


def test_types_that_lead_everywhere_are_not_entered() -> None:
    kept = [Plain(a=SOUGHT), [SOUGHT]]
    search = HolderSearch(
        lambda kind: issubclass(kind, Sought), excluded_types=lambda kind: issubclass(kind, Plain)
    )
    search.walk([Root("variable", "x", kept)])
    assert [held.name for held in search.holdings] == ["x[1][0]"]


def test_a_search_lets_go_of_what_it_found_when_it_goes() -> None:
    kept = Sought()
    reference = weakref.ref(kept)
    gc.disable()
    try:
        found = search(Root("variable", "x", [kept]))
        del kept, found
        assert reference() is None
    finally:
        gc.enable()
