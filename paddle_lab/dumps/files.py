"""Finds the files in a directory that Paddle dumped, and the process that wrote each."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from paddle_lab.dumps.dot import Graph, read_dot
from paddle_lab.dumps.stacks import Stack, Stacks, read_stacks
from paddle_lab.dumps.values import ValuedOp, is_checksums, read_checksums, read_report
from paddle_lab.trace.limit import CHECKSUMS, PADIFF
from paddle_lab.trace.log_text import LogEntries, read_log
from paddle_lab.words import listing, say

_LARGEST_BYTES: Final = 256 << 20
_PROCESS: Final = re.compile(r"\.(\d+)$")
_DOT: Final = re.compile(r"(?:strict )?digraph\b[^{]*\{")
_LOG: Final = re.compile(rb"^\t*[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} ", re.MULTILINE)
_STACKS: Final = re.compile(r'(Note : |GradNodeBase |\S+ : \n  File ")')
_GRADIENTS: Final = re.compile(r"Variable: (\S+)\n")
_BACKWARD, _REVERSED = "_backward_graph.dot", "_ref_forward_graph.dot"
_STACK_LOG: Final = "_call_stack.log"
_GRADIENT_LOG: Final = "_grad_tensors.log"
_REPORT: Final = "report.json"
_MOST_NAMED: Final = 5


@dataclass
class Backward:
    """The graph of one backward call."""

    name: str
    """The common beginning of the files' names: the time of the call."""
    graph: Graph
    ops: dict[int, str] = field(default_factory=dict)
    """Maps the pointer of a grad node to the name of its op, from the reversed graph."""
    stacks: dict[tuple[str, int], Stack] = field(default_factory=dict)
    gradient_file: str = ""
    gradients: list[tuple[str, str]] = field(default_factory=list)
    """The tensors in the file, and the text about each."""


@dataclass
class Process:
    """The dumps of one process."""

    number: int = 0
    """The id of the process, 0 if no file has it."""
    stacks: Stacks = field(default_factory=Stacks)
    forwards: list[Graph] = field(default_factory=list)
    backwards: list[Backward] = field(default_factory=list)
    logs: list[LogEntries] = field(default_factory=list)


@dataclass
class ValueFile:
    """Values of ops, from Paddle's checksums or PaDiff's report."""

    name: str
    ops: list[ValuedOp]
    kind: int
    """:data:`~paddle_lab.trace.limit.CHECKSUMS` or :data:`~paddle_lab.trace.limit.PADIFF`."""


class DumpFiles:
    """The dumps in a directory.

    Parameters
    ----------
    directory
        The folder with the files. Subfolders are searched, too. It may also be a single file.
    """

    def __init__(self, directory: Path) -> None:
        self.processes: dict[int, Process] = {}
        self.notices: list[str] = []
        self.texts: dict[tuple[str, int], str] = {}
        """The text of each line in stacks, by file and line number."""
        self.values: list[ValueFile] = []
        self._backwards: dict[str, Backward] = {}
        self._forwards: list[Graph] = []
        self._logs: list[LogEntries] = []
        unknown: list[str] = []
        damaged: list[str] = []
        is_one = directory.is_file()
        paths = [directory] if is_one else [one for one in directory.rglob("*") if one.is_file()]
        reports = {one.parent for one in paths if one.name == _REPORT}
        for path in sorted(paths):
            is_part = path.suffix in (".npy", ".json") and path.name != _REPORT
            if is_part and not reports.isdisjoint(path.parents):
                continue  # PaDiff's arrays, and the names of weights
            name = path.name if is_one else path.relative_to(directory).as_posix()
            try:
                is_known, is_whole = self._read(path, name)
            except OSError as error:
                self.notices.append(say("notices.dump.unreadable", file=name, error=error.strerror))
                continue
            if not is_known:
                unknown.append(name)
            elif not is_whole:
                damaged.append(name)
        self._give_to_processes()
        if damaged:
            self.notices.append(say("notices.dump.damaged", files=listing(damaged, _MOST_NAMED)))
        if unknown:
            self.notices.append(say("notices.dump.unknown", files=listing(unknown, _MOST_NAMED)))

    def _read(self, path: Path, name: str) -> tuple[bool, bool]:
        """Read a file. Tell whether Paddle dumped the file, and whether the file is complete."""
        if path.stat().st_size > _LARGEST_BYTES:
            return False, False
        if path.name == _REPORT:
            return self._read_report(path, name), True
        data = path.read_bytes()
        text = data.decode("utf-8", "replace")
        if is_checksums(text):
            self.values.append(ValueFile(name, read_checksums(text), CHECKSUMS))
            return True, text.endswith("\n")
        return self._read_text(data, text, path, name)

    def _read_text(self, data: bytes, text: str, path: Path, name: str) -> tuple[bool, bool]:
        if not data.strip():
            return path.name.endswith((_BACKWARD, _REVERSED, _STACK_LOG)), False
        if _DOT.match(text):
            return True, self._read_graph(read_dot(text), name)
        if _STACKS.match(text):
            stacks = read_stacks(text)
            self.texts.update(stacks.texts)
            if name.endswith(_STACK_LOG):
                backward = self._backward(name.removesuffix(_STACK_LOG))
                backward.stacks.update(stacks.grad_nodes)
            else:
                number = _PROCESS.search(name)
                self._process(int(number[1]) if number else 0, stacks)
            return True, text.endswith("\n")
        if _GRADIENTS.match(text):
            parts = _GRADIENTS.split(text)[1:]
            backward = self._backward(name.removesuffix(_GRADIENT_LOG))
            backward.gradients += zip(parts[::2], parts[1::2], strict=True)
            backward.gradient_file = name
            return True, text.endswith("\n")
        if _LOG.search(data[: 1 << 16]):
            written = datetime.datetime.fromtimestamp(path.stat().st_mtime).astimezone()
            self._logs.append(read_log(data, year=written.year))
            return True, True
        return False, False

    def _read_report(self, path: Path, name: str) -> bool:
        try:
            self.values.append(ValueFile(name, read_report(path), PADIFF))
        except ValueError:
            return False
        return True

    def _read_graph(self, graph: Graph, name: str) -> bool:
        if name.endswith(_REVERSED):
            backward = self._backward(name.removesuffix(_REVERSED))
            backward.ops = {node.address: node.name for node in graph.nodes.values()}
        elif name.endswith(_BACKWARD) or any(node.address for node in graph.nodes.values()):
            self._backward(name.removesuffix(_BACKWARD)).graph = graph
        else:
            self._forwards.append(graph)
        return graph.is_whole

    def _backward(self, name: str) -> Backward:
        return self._backwards.setdefault(name, Backward(name, Graph()))

    def _process(self, number: int, stacks: Stacks) -> None:
        process = self.processes.setdefault(number, Process(number))
        process.stacks.ops.update(stacks.ops)
        process.stacks.grad_nodes.update(stacks.grad_nodes)

    def _give_to_processes(self) -> None:
        """Assign files that do not name a process to the process with their grad nodes or ops."""
        for log in self._logs:
            numbers = [one for one in self.processes if (log.native_thread == one).any()]
            self._owner(dict.fromkeys(numbers, 1)).logs.append(log)
        for backward in self._backwards.values():
            if backward.graph.nodes or backward.gradients:
                self._owner(self._nodes_of(backward.graph)).backwards.append(backward)
        for graph in self._forwards:
            names = {node.name for node in graph.nodes.values()}
            counts = {
                number: len(names & process.stacks.ops.keys())
                for number, process in self.processes.items()
            }
            # Each process numbers names from 1, so equal names can come from different processes.
            tells = len(set(counts.values())) == len(counts)
            self._owner(counts if tells else {}).forwards.append(graph)

    def _nodes_of(self, graph: Graph) -> dict[int, int]:
        """Return how many grad nodes of a graph each process has."""
        nodes = {tuple(node) for node in graph.nodes.values()}
        return {
            number: len(nodes & process.stacks.grad_nodes.keys())
            for number, process in self.processes.items()
        }

    def _owner(self, counts: dict[int, int]) -> Process:
        if len(self.processes) == 1:
            return next(iter(self.processes.values()))
        number = max(counts, key=lambda one: counts[one], default=0)
        return self.processes.setdefault(number if counts.get(number) else 0, Process())
