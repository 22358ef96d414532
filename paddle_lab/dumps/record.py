"""Makes a record from files that Paddle wrote. The record contains only what the files contain."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paddle_lab.dumps.files import Backward, DumpFiles, Process, ValueFile
from paddle_lab.dumps.forward import Forward, Tensor
from paddle_lab.dumps.log import log_rows
from paddle_lab.trace.floats import float_bits
from paddle_lab.trace.record import Origin, Record, TraceFileError
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
    if not directory.is_file():
        next(directory.iterdir(), None)  # raises the error that describes the problem
    files = DumpFiles(directory)
    processes = sorted(files.processes.values(), key=lambda one: one.number)
    if not files.values and not any(
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
    for values in files.values:
        is_alone = len(files.values) == 1 and not processes
        region = -1 if is_alone else writer.row("scopes", kind="region", name=values.name)
        writer.write_values(values, region)
    for (file, line), text in files.texts.items():
        writer.row("sources", file=file, first_line=line, text=text)
    if any(process.backwards for process in processes):
        files.notices.append(say("notices.dump.calls"))
    origin = Origin(title=directory.name, paddle_lab=__version__, notices=files.notices)
    record = writer.record(origin)
    record.kept_values.update(writer.arrays)
    return record


class _Writer(RowWriter):
    def __init__(self) -> None:
        super().__init__()
        self.arrays: dict[int, npt.NDArray[Any]] = {}
        """The values of tensors, by row."""

    def write_values(self, file: ValueFile, region: int) -> None:
        """Write the ops of a file of values with their outputs. Such a file has no inputs."""
        scopes: dict[str, int] = {}
        for op in file.ops:
            scope = region
            if op.route:
                if op.route not in scopes:
                    layer = self.row("layers", path=op.route, **{"class": op.name})
                    scopes[op.route] = self.row(
                        "scopes", kind="layer", name=op.route, layer=layer, parent=region
                    )
                scope = scopes[op.route]
            phase = "backward" if op.is_backward else "forward"
            row = self.row("ops", name=op.name, scope=scope, phase=phase)
            for slot, value in enumerate(op.values):
                kind = "gradient" if op.is_backward else ""
                told = Tensor("", value.name, value.dtype, value.shape, "")
                tensor = self._tensor(told, row, kind)
                self.row("uses", op=row, tensor=tensor, role="output", slot=slot)
                statistics = {} if value.array is None else _statistics(value.array)
                stat = self.row("value_stats", tensor=tensor, **statistics)
                cells = {"digest": value.digest, "decimals": file.kind}
                self.row("value_digests", value_stat=stat, **cells)
                if value.array is not None:
                    self.arrays[tensor] = value.array

    def write(self, process: Process, scope: int) -> None:
        """Write the rows of a process."""
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


def _statistics(array: npt.NDArray[Any]) -> dict[str, int]:
    """Return the cells of a row of ``value_stats`` for an array."""
    values = array.astype(np.float64).ravel() if array.dtype.kind != "c" else np.abs(array).ravel()
    finite = values[np.isfinite(values)]
    some = finite if len(finite) else np.zeros(1)
    reals = some.min(), some.max(), some.mean(), np.linalg.norm(some)
    bits = float_bits([float(one) for one in reals])
    return {
        "elements": values.size,
        "zeros": int((values == 0).sum()),
        "nans": int(np.isnan(values).sum()),
        "infs": int(np.isinf(values).sum()),
        **dict(zip(("smallest", "largest", "mean", "norm"), bits, strict=True)),
    }
