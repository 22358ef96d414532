"""Finds objects that a notebook keeps alive, and frees those that nothing else holds."""

from __future__ import annotations

import gc
import sys
from collections import deque
from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any

from paddle_lab.capture.memory.counters import PaddleCounters
from paddle_lab.ledger import Entry
from paddle_lab.words import say

if TYPE_CHECKING:
    from paddle_lab.capture.memory.living_tensors import LivingTensors
    from paddle_lab.holders.living import Storage
    from paddle_lab.holders.roots import Root
    from paddle_lab.views.text.memory_report import MemoryReport

_KEPT_EXCEPTION = ("last_exc", "last_type", "last_value", "last_traceback")
_LIBRARIES_BUDGET_S = 4.0
"""All libraries have about 200,000 objects: half a second, or longer on a busy machine."""
_MOST_ENTRIES = 10_000
_UNDERSCORES = ("_", "__", "___")


class NotebookMemory:
    """The memory of an IPython shell: Paddle's counters, the shell's names, and the ledger.

    Parameters
    ----------
    shell
        The shell.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._counters = PaddleCounters()
        self.ledger: deque[Entry] = deque(maxlen=_MOST_ENTRIES)
        """One entry for each cell that changed memory, the oldest first."""

    @property
    def has_page(self) -> bool:
        """Whether the shell belongs to a kernel, which can show widgets; False in a terminal."""
        return getattr(self._shell, "kernel", None) is not None

    def read(self) -> dict[str, dict[str, int]]:
        """Return the values of Paddle's counters by device: ``{"cpu": {"allocated": 12, …}}``.

        The values are in bytes. A counter without a value has no entry. Before Paddle is imported,
        there are no entries.
        """
        values = self._counters.read(0)
        readings: dict[str, dict[str, int]] = {}
        for counter, value in zip(self._counters.counters(), values, strict=True):
            if value >= 0:
                readings.setdefault(counter.device, {})[counter.name] = value
        return readings

    def allocated_bytes(self) -> int:
        """Return how many bytes Paddle has allocated on all devices and on the CPU."""
        return sum(device.get("allocated", 0) for device in self.read().values())

    def living(self) -> LivingTensors:
        """Return the living tensors that can be reached from the notebook's names.

        Raises
        ------
        PaddleUnavailableError
            If there is no Paddle.
        """
        from paddle_lab.capture.memory.living_tensors import LivingTensors
        from paddle_lab.holders.roots import (
            context_roots,
            is_kernels,
            module_roots,
            task_roots,
            thread_roots,
            variable_roots,
        )

        shell = self._shell
        # These objects refer to all names, so they do not count as holders.
        namespaces = [shell.user_ns, shell.user_ns_hidden, shell.user_ns.get("_oh")]
        keepers = [*namespaces, shell.displayhook, shell.InteractiveTB, shell.last_execution_result]
        living = LivingTensors(excluded=[shell, *keepers], excluded_types=is_kernels)
        living.walk(variable_roots(shell.user_ns, shell.user_ns_hidden))
        living.walk(module_roots(libraries=False))
        living.walk([*self._kept_outputs(), *self._kept_tracebacks()])
        living.walk(chain(context_roots(), task_roots(), thread_roots()))
        return living

    def search_libraries(self, living: LivingTensors) -> None:
        """Search the objects of libraries, then objects without names. This may take seconds."""
        from paddle_lab.holders.roots import Root, module_roots

        living.allow(_LIBRARIES_BUDGET_S)
        living.walk(module_roots(libraries=True), enters_libraries=True)
        living.walk([Root("container", "get_ipython()", vars(self._shell), is_namespace=True)])
        living.walk_unnamed()

    def report(self, living: LivingTensors, ledger: Iterable[Entry] = ()) -> MemoryReport:
        """Return a report about living tensors, their holders, and the cells of a ledger."""
        from paddle_lab.views.text.memory_report import MemoryReport

        return MemoryReport(
            list(ledger),
            living.tensors(),
            allocated={place: counters["allocated"] for place, counters in self.read().items()},
            graphs=living.backward_graphs(),
            is_complete=living.is_complete,
        )

    def release(self) -> str:
        """Free objects that only outputs and tracebacks hold, and return a sentence about it.

        An output that a variable of the user also holds stays, because removing the output frees
        nothing.
        """
        if "paddle" not in sys.modules:
            return say("magics.free.no_paddle")
        from paddle_lab.holders.living import storages
        from paddle_lab.magics.freed_text import freed_text

        at_first = self.allocated_bytes()
        gc.collect()
        without_cycles = self.allocated_bytes()
        let_go = self._let_go(storages(self.living().tensors()))
        gc.collect()
        return freed_text(
            let_go,
            by_letting_go_bytes=without_cycles - self.allocated_bytes(),
            from_cycles_bytes=at_first - without_cycles,
        )

    def _let_go(self, found: list[Storage]) -> list[str]:
        roots = {
            (tensor.root.kind, tensor.root.name): tensor.root
            for storage in found
            if storage.is_notebooks_alone
            for tensor in storage.tensors
        }
        names = []
        for (kind, name), root in roots.items():
            if kind == "output":
                self._drop_output(root.value)
            else:
                self._drop_tracebacks()
            names.append(say("magics.free.traceback", name=name) if kind == "traceback" else name)
        return names

    def _kept_outputs(self) -> list[Root]:
        from paddle_lab.holders.roots import Root, output_roots

        roots = output_roots(self._shell.user_ns, self._shell.user_ns_hidden)
        last = getattr(self._shell.last_execution_result, "result", None)
        hook = self._shell.displayhook
        roots += [Root("output", name, getattr(hook, name, None)) for name in _UNDERSCORES]
        roots.append(Root("output", say("memory.held_by.last_value"), last))
        # A value has up to four of these names. Use the first name, which is the clearest.
        by_value: dict[int, Root] = {}
        for root in roots:
            by_value.setdefault(id(root.value), root)
        return list(by_value.values())

    def _kept_tracebacks(self) -> list[Root]:
        from paddle_lab.holders.roots import traceback_roots

        shell = self._shell
        last = shell.last_execution_result
        errors = [getattr(last, name, None) for name in ("error_in_exec", "error_before_exec")]
        return traceback_roots(*errors, getattr(shell.InteractiveTB, "tb", None))

    def _drop_output(self, value: Any) -> None:
        from paddle_lab.holders.roots import OUTPUTS_NAME

        shell = self._shell
        kept: dict[int, Any] = shell.user_ns.get("_oh", {})
        for number in [number for number, output in kept.items() if output is value]:
            del kept[number]
        for name, output in list(shell.user_ns_hidden.items()):
            if output is value and OUTPUTS_NAME.fullmatch(name):
                for namespace in (shell.user_ns, shell.user_ns_hidden):
                    if namespace.get(name) is value:
                        _forget(name, namespace)
        for name in _UNDERSCORES:
            if getattr(shell.displayhook, name, None) is value:
                setattr(shell.displayhook, name, "")
        if getattr(shell.last_execution_result, "result", None) is value:
            shell.last_execution_result.result = None

    def _drop_tracebacks(self) -> None:
        for name in _KEPT_EXCEPTION:
            if hasattr(sys, name):
                delattr(sys, name)
        shell = self._shell
        if getattr(shell.InteractiveTB, "tb", None) is not None:
            shell.InteractiveTB.tb = None
        last = shell.last_execution_result
        if last is not None:
            last.error_in_exec = last.error_before_exec = None


def _forget(name: str, namespace: dict[str, Any]) -> None:
    if name in _UNDERSCORES:  # IPython expects these names to exist
        namespace[name] = ""
    else:
        del namespace[name]
