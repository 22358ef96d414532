"""Makes one record of the files that Paddle wrote, with only what the files contain."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Final

from paddle_lab.dumps.files import Backward, DumpFiles, Process
from paddle_lab.dumps.forward import Forward, Tensor
from paddle_lab.dumps.log import log_rows
from paddle_lab.trace.errors import TraceFileError
from paddle_lab.trace.record import Origin, Record
from paddle_lab.trace.row_writer import RowWriter
from paddle_lab.version import __version__
from paddle_lab.words import say

_BITS: Final = re.compile(r"(\d+)$")
_LONGEST_TEXT: Final = 1000


def read_dump(directory: Path) -> Record:
    """Return the record of the dumps in a directory.

    Raises
    ------
    TraceFileError
        If the directory has no dumps of Paddle's.
    OSError
        If there is no such directory, or the directory cannot be read.
    """
    next(directory.iterdir(), None)  # raises the error that describes the problem
    files = DumpFiles(directory)
    processes = sorted(files.processes.values(), key=lambda one: one.number)
    if not any(
        one.stacks.ops or one.stacks.grad_nodes or one.forwards or one.backwards or one.logs
        for one in processes
    ):
        raise TraceFileError(say("errors.no_dump", path=directory))
    writer = _Writer()
    for process in processes:
        scope = -1
        if len(processes) > 1 and (process.stacks.ops or process.forwards or process.backwards):
            name = say("reports.dump.process", number=process.number or "?")
            scope = writer.row("scopes", kind="region", name=name)
        writer.write(process, scope)
    for (file, line), text in files.texts.items():
        writer.row("sources", file=file, first_line=line, text=text)
    if any(process.backwards for process in processes):
        files.notices.append(say("notices.dump.calls"))
    origin = Origin(title=directory.name, paddle_lab=__version__, notices=files.notices)
    return writer.record(origin)


class _Writer(RowWriter):
    def write(self, process: Process, scope: int) -> None:
        """Write the rows of one process."""
        forward = Forward(process)
        order = forward.in_order()
        first = len(self.tables["ops"])
        rows = {key: first + at for at, key in enumerate(order)}
        tensors = self._write_ops(forward, order, rows, scope)
        nodes: dict[tuple[str, int], int] = {}
        for backward in process.backwards:
            self._write_backward(backward, forward, rows, tensors, scope, nodes)
        for log in process.logs:
            for cells in log_rows(log, rows, nodes):
                self.row("log", **cells)

    def _write_ops(
        self, forward: Forward, order: list[str], rows: dict[str, int], scope: int
    ) -> dict[str, int]:
        tensors: dict[str, int] = {}
        outputs: dict[str, list[Tensor]] = {}
        for key in order:
            for tensor in forward.ops[key].inputs.values():
                outputs.setdefault(tensor.producer, [])
                if tensor.key not in tensors:
                    kind = "parameter" if tensor.key in forward.parameters else ""
                    producer = rows.get(tensor.producer, -1)
                    tensors[tensor.key] = self._tensor(tensor, producer, kind)
                    outputs[tensor.producer].append(tensor)
        for key in order:
            op = forward.ops[key]
            row = self.row("ops", name=op.name, scope=scope, stack=self.stack(op.stack))
            for role, used in (("input", op.inputs.values()), ("output", outputs.get(key, ()))):
                for slot, tensor in enumerate(used):
                    self.row("uses", op=row, tensor=tensors[tensor.key], role=role, slot=slot)
        return tensors

    def _tensor(self, tensor: Tensor, producer: int, kind: str) -> int:
        bits = _BITS.search(tensor.dtype)
        extents = json.loads(tensor.shape) if tensor.shape else [0]
        return self.row(
            "tensors",
            name=tensor.name,
            dtype=tensor.dtype,
            shape=str(extents) if tensor.shape else "",
            bytes=math.prod(extents) * (int(bits[1]) // 8 if bits else 1),
            producer=producer,
            kind=kind or ("external" if producer < 0 else "activation"),
        )

    def _write_backward(
        self,
        backward: Backward,
        forward: Forward,
        rows: dict[str, int],
        tensors: dict[str, int],
        scope: int,
        nodes: dict[tuple[str, int], int],
    ) -> None:
        graph = backward.graph
        found: dict[str, int] = {}
        made_by: dict[str, int] = {}
        region = self.row("scopes", kind="region", name=backward.name, parent=scope)
        cells = {"kind": "paddle.autograd.backward", "scope": region}
        call = self.row("backward_calls", ops_before=len(self.tables["ops"]), **cells)
        for name, node in graph.nodes.items():
            leaf = forward.leaves.get((backward.name, name), "")
            found[name] = nodes[node] = self.row(
                "grad_nodes",
                name=node.name,
                address=node.address,
                op=rows.get(forward.op_of(node, backward), -1),
                parameter=tensors.get(leaf, -1),
                scope=scope,
            )
        slots = dict.fromkeys(graph.nodes, 0)
        for edge in graph.edges:
            ends = {"source": found[edge.source], "target": found[edge.target]}
            cells = {"dtype": edge.dtype, "shape": edge.shape}
            self.row("grad_edges", slot=slots[edge.source], **ends, **cells)
            slots[edge.source] += 1
            made_by[edge.tensor] = found[edge.source]
        for name in graph.nodes.keys() - {edge.target for edge in graph.edges}:
            self.row("grad_roots", backward_call=call, grad_node=found[name])
        for tensor, text in backward.gradients:
            said = f"{tensor}\n{text.strip()}"
            cells = {"source_file": backward.gradient_file, "text": said[:_LONGEST_TEXT]}
            self.row("log", grad_node=made_by.get(tensor, -1), thread=-1, **cells)
