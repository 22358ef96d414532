"""Roots of running code outside the notebook's variables: context variables, threads, tasks."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import threading
import weakref
from typing import Any

from paddle_lab.holders.roots import Root, context_roots, is_kernels, task_roots, thread_roots
from paddle_lab.holders.search import HolderSearch


class Sought:
    """An object that the searches look for."""


def names(*roots: Root) -> list[str]:
    search = HolderSearch(lambda kind: issubclass(kind, Sought), excluded_types=is_kernels)
    search.walk(roots)
    return [held.name for held in search.holdings]


def test_a_context_variable_has_its_name() -> None:
    variable: contextvars.ContextVar[Any] = contextvars.ContextVar("current")
    token = variable.set([Sought()])
    assert names(*context_roots()) == ["context variable current[0]"]
    variable.reset(token)


def test_a_variable_of_a_call_in_a_thread_has_its_and_the_threads_name() -> None:
    ready, end = threading.Event(), threading.Event()
    references: list[Any] = []

    def work() -> None:
        batch = [Sought()]
        references.append(weakref.ref(batch[0]))
        ready.set()
        end.wait()
        del batch
        ready.set()
        again.wait()

    again = threading.Event()
    thread = threading.Thread(target=work, name="loader")
    thread.start()
    ready.wait()
    ready.clear()
    assert names(*thread_roots()) == ["batch[0] in work(), thread loader"]
    end.set()
    ready.wait()
    gc.collect()
    # The search itself must not have kept the variable alive.
    assert references[0]() is None
    again.set()
    thread.join()


def test_calls_that_a_profiler_follows_are_left_alone() -> None:
    ready, end = threading.Event(), threading.Event()
    kept: list[Any] = []

    def work() -> None:
        batch = [Sought()]
        ready.set()
        end.wait()
        kept.append(batch)

    threading.setprofile(lambda *_event: None)
    try:
        thread = threading.Thread(target=work, name="loader")
        thread.start()
        ready.wait()
        assert names(*thread_roots()) == []
    finally:
        threading.setprofile(None)  # type: ignore[arg-type]
        end.set()
        thread.join()
    assert len(kept) == 1


def test_a_waiting_task_has_its_name_and_leads_to_no_other() -> None:
    async def work(held: Any) -> None:
        await asyncio.sleep(60 if held else 0)

    async def main() -> list[list[str]]:
        first = asyncio.create_task(work(Sought()), name="first")
        second = asyncio.create_task(work([Sought()]), name="second")
        await asyncio.sleep(0)
        found = [sorted(names(*task_roots())), names(Root("variable", "x", first))]
        first.cancel()
        second.cancel()
        return found

    everywhere, below_first = asyncio.run(main())
    assert everywhere == ["held in work(), task first", "held[0] in work(), task second"]
    assert below_first == ["held in work(), x (in a Task)"]
