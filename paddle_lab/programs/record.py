"""Turns a program into a record: ops, tensors, groups of layers and blocks, and backward."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

from paddle_lab.programs.layer_paths import layer_paths, parts
from paddle_lab.programs.missing_lines import fill_lines
from paddle_lab.programs.pairing import paired
from paddle_lab.programs.phases import BACKWARD, FORWARD, phases
from paddle_lab.programs.program import Block, Op, Program, Stack, Value
from paddle_lab.trace.record import Origin, Record
from paddle_lab.trace.row_writer import RowWriter
from paddle_lab.trace.schema import ROLES

_INPUT, _OUTPUT = ROLES.index("input"), ROLES.index("output")
_BYTES = {"64": 8, "32": 4, "16": 2, "8": 1, "128": 16}


class Written(NamedTuple):
    """The record of a program, and the input and output tensors of the program, in order."""

    record: Record
    inputs: list[int]
    outputs: list[int]


def record_of(program: Program, origin: Origin) -> Record:
    """Return the record of a program that was not run."""
    return written(program, origin).record


def written(program: Program, origin: Origin, *, has_backward_ops: bool = False) -> Written:
    """Return the record of a program, and its input and output tensors.

    Parameters
    ----------
    has_backward_ops
        Whether gradient ops become ops of the backward phase. By default they become grad nodes.
    """
    fill_lines(program.forward)
    writer = _Writer(program, has_backward_ops=has_backward_ops)
    return Written(writer.written(origin), writer.inputs, writer.outputs)


class _Writer:
    def __init__(self, program: Program, *, has_backward_ops: bool) -> None:
        self._program = program
        self._gradients_phase = -1 if has_backward_ops else BACKWARD
        self.inputs: list[int] = []
        self.outputs: list[int] = []
        self._writer = RowWriter()
        self._row, self._tables = self._writer.row, self._writer.tables
        self._use = self._tables["uses"].append
        self._tensors: dict[int, list[int]] = {}
        """Maps a value to its tensors: one tensor, or those of a list."""
        self._nodes: dict[int, list[int]] = {}
        """Maps a gradient to the grad nodes that make the gradient."""
        self._rows: dict[int, int] = {}
        self._stack_of: dict[int, int] = {}
        self._layer_of = layer_paths(program.forward, program.paths)
        self._layer_rows: dict[str, int] = {}
        self._pairs: dict[int, Op] = {}

    def written(self, origin: Origin) -> Record:
        program = self._program
        told = phases(program.forward)
        mine = zip(program.forward.ops, told, strict=True)
        backward = [op for op, phase in mine if phase == self._gradients_phase]
        if program.backward is not None:
            backward = program.backward.ops
        flat = list(Block(backward).walk())
        if flat:
            inside = {id(op) for op in flat}
            forward = [op for op in program.forward.walk() if id(op) not in inside]
            self._pairs = paired(flat, [op for op in forward if op.computes])
        self._block(program.forward.ops, told, -1)
        for op in program.backward.ops if program.backward else ():
            self._gradient_op(op)
        self._leaves()
        if len(self._tables["grad_nodes"]):
            self._row("backward_calls", kind="remaining", ops_before=len(self._tables["ops"]))
            into = self._tables["grad_edges"].build()["target"].tolist()
            for node in sorted(set(range(len(self._tables["grad_nodes"]))) - set(into)):
                self._row("grad_roots", backward_call=0, grad_node=node)
        for source in program.sources:
            self._row("sources", **source._asdict())
        return self._writer.record(origin)

    def _block(self, ops: Sequence[Op], told: Sequence[int], scope: int) -> None:
        """Write the ops of a block. Layer calls in the block become groups."""
        opened: list[tuple[str, int]] = []
        for op, phase in zip(ops, told, strict=True):
            if phase == self._gradients_phase:
                self._gradient_op(op)
                continue
            # Paddle adds copies that no layer made.
            if op.computes and (op.layer or op.short_name != "assign"):
                self._open(opened, parts(op.layer), scope)
            self._op(op, phase, opened[-1][1] if opened else scope)

    def _open(self, opened: list[tuple[str, int]], around: tuple[str, ...], scope: int) -> None:
        same = 0
        while same < min(len(opened), len(around)) and opened[same][0] == around[same]:
            same += 1
        del opened[same:]
        for depth in range(same, len(around)):
            layer = self._layer_of[around[: depth + 1]]
            above = self._layer_of[around[:depth]].path if depth else ""
            if layer.path not in self._layer_rows:
                cells = {"path": layer.path, "class": layer.class_name}
                parent = self._layer_rows.get(above, -1)
                self._layer_rows[layer.path] = self._row("layers", parent=parent, **cells)
            inside = opened[-1][1] if opened else scope
            row = self._row(
                "scopes", kind="layer", parent=inside, layer=self._layer_rows[layer.path]
            )
            opened.append((around[depth], row))

    def _op(self, op: Op, phase: int, scope: int) -> None:
        if not op.computes:
            self._value_op(op)
            return
        results = []
        if op.blocks:
            scope = self._row("scopes", kind="block", name=op.short_name, parent=scope)
            for block, inner in self._inner(op, scope):
                self._pass(block, op, self._tensors)
                self._block(block.ops, [FORWARD] * len(block.ops), inner)
                results += block.results
        attributes = ", ".join(f"{name}={value}" for name, value in op.attributes.items())
        row = self._row(
            "ops",
            name=op.short_name,
            scope=scope,
            stack=self._stack(op.stack),
            phase=phase,
            attributes=attributes,
        )
        self._rows[id(op)] = row
        for slot, key in enumerate([*op.inputs, *results]):
            for tensor in self._tensors.get(key, ()):
                self._use(row, tensor, _INPUT, slot)
        for slot, key in enumerate(op.outputs):
            self._make(key, producer=row, kind="activation")
            for tensor in self._tensors.get(key, ()):
                self._use(row, tensor, _OUTPUT, slot)

    def _inner(self, op: Op, scope: int) -> Iterator[tuple[Block, int]]:
        names = ("then", "else") if len(op.blocks) == 2 else ("",) * len(op.blocks)
        for name, block in zip(names, op.blocks, strict=False):
            named = name and self._row("scopes", kind="block", name=name, parent=scope)
            yield block, named or scope

    def _pass(self, block: Block, op: Op, found: dict[int, list[int]]) -> None:
        """Replace the arguments of a loop's body by the values with which the loop begins."""
        for argument, given in zip(block.arguments, op.inputs[1:], strict=False):
            found[argument] = found.get(given, [])

    def _value_op(self, op: Op) -> None:
        """Write a parameter, an input or a constant as a tensor. For a list, handle its items."""
        if op.is_list:
            self._pass_items(op, self._tensors)
        elif op.outputs and not op.name.startswith("cf."):
            kind = "external"
            if op.is_parameter:
                kind = "parameter" if op.is_trainable else "buffer"
            path = self._program.paths.get(op.label, "")
            for key in op.outputs:
                self._make(key, name=op.label, kind=kind, path=path)
                if op.name == "pd_op.data":
                    self.inputs += self._tensors.get(key, ())
        if op.name == "pd_op.fetch" or op.label.startswith("output_"):
            self.outputs += [row for key in op.inputs for row in self._tensors.get(key, ())]

    def _pass_items(self, op: Op, found: dict[int, list[int]]) -> None:
        items = [item for key in op.inputs for item in found.get(key, ())]
        if op.name == "builtin.combine":
            found[op.outputs[0]] = items
        elif op.name == "builtin.split":
            for key, item in zip(op.outputs, items, strict=False):
                found[key] = [item]
        else:
            at = int(op.attributes.get("index", 0))
            found[op.outputs[0]] = items[at : at + 1]

    def _make(self, key: int, **cells: object) -> None:
        if key >= 0:
            value = self._program.values[key]
            items = value.items or (value,)
            self._tensors[key] = [self._tensor(item, **cells) for item in items]

    def _tensor(self, value: Value, **cells: object) -> int:
        shape, size = _shape_and_bytes(value.dtype, value.shape)
        cells |= {"dtype": value.dtype, "stop_gradient": value.stop_gradient}
        return self._row("tensors", shape=shape, bytes=size, **cells)

    def _gradient_op(self, op: Op) -> None:
        if op.is_list:
            self._pass_items(op, self._tensors)
            self._pass_items(op, self._nodes)
            return
        if not op.computes:
            self._value_op(op)
            return
        inputs = list(op.inputs)
        for block in op.blocks:
            self._pass(block, op, self._nodes)
            for inner in block.ops:
                if inner.name == "cf.yield":
                    inputs += inner.inputs
                else:
                    self._gradient_op(inner)
        of = self._pairs.get(id(op))
        row = self._rows.get(id(of), -1) if of else -1
        node = self._row("grad_nodes", name=op.short_name, op=row)
        self._flow(inputs, node)
        for key in op.outputs:
            if key >= 0:
                count = len(self._program.values[key].items) or 1
                self._make(key, kind="gradient")
                self._nodes[key] = [node] * count

    def _flow(self, keys: Sequence[int], node: int) -> None:
        seen: set[int] = set()
        for slot, key in enumerate(keys):
            for source in self._nodes.get(key, ()):
                if source not in seen:
                    seen.add(source)
                    value = self._program.values[key]
                    shape, _ = _shape_and_bytes(value.dtype, value.shape)
                    cells = {"dtype": value.dtype, "shape": shape, "slot": slot}
                    self._row("grad_edges", source=source, target=node, **cells)

    def _leaves(self) -> None:
        for gradient, of in self._program.gradients.items():
            if gradient in self._nodes and of in self._tensors:
                (tensor,) = self._tensors[of]
                leaf = self._row("grad_nodes", name="GradNodeAccumulation", parameter=tensor)
                self._flow([gradient], leaf)

    def _stack(self, stack: Stack) -> int:
        if id(stack) not in self._stack_of:
            self._stack_of[id(stack)] = self._writer.stack(reversed(stack))
        return self._stack_of[id(stack)]


@lru_cache(maxsize=1 << 12)
def _shape_and_bytes(dtype: str, shape: tuple[int, ...] | None) -> tuple[str, int]:
    size = next((of for bits, of in _BYTES.items() if dtype.endswith(bits)), 1)
    is_known = shape is not None and min(shape, default=0) >= 0
    return "" if shape is None else str(list(shape)), prod(shape or ()) * size if is_known else 0
