"""Reads a program in memory: its ops, values, and the lines that called the ops."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from paddle_lab.capture.stacks.source_texts import Cells
from paddle_lab.capture.static.callstacks import Callstacks
from paddle_lab.programs.pir_json import DTYPES, LABELS, attribute_text
from paddle_lab.programs.program import Block, Op, Program, Value

_HIDDEN: Final = {
    *LABELS, "op_callstack", "stop_gradient", "persistable", "struct_name", "place",
    "is_parameter", "is_distributed", "need_clip", "trainable",
}  # fmt: skip
_TENSOR: Final = re.compile(r"tensor<((?:-?\d+x)*)(\w+)>")


def read_live(
    forward: Any,
    backward: Any = None,
    *,
    cells: Cells | None = None,
    paths: Mapping[str, str] | None = None,
    of_model: bool = False,
) -> Program:
    """Read a ``paddle.static.Program``.

    Parameters
    ----------
    backward
        The program of the gradients, if this is a separate program.
    cells
        Finds notebook cells by file name.
    paths
        Maps Paddle's name of a parameter to the path in the model.
    of_model
        Whether stacks begin inside the model, instead of where the program was built.
    """
    stacks = Callstacks(cells, of_model=of_model)
    reader = _Reader(stacks)
    program = Program(reader.block(forward.global_block()), values=reader.values)
    has_backward = backward is not None and len(backward.global_block().ops)
    if has_backward:
        program.backward = reader.block(backward.global_block())
    program.paths = dict(paths or {})
    program.gradients = reader.gradients
    program.sources = stacks.sources()
    return program


def ops_in(block: Any) -> Iterator[Any]:
    """Yield the ops of a block. Before an op come the ops of its blocks, as in a record."""
    for op in block.ops:
        for inner in op.blocks():
            yield from ops_in(inner)
        yield op


class _Reader:
    def __init__(self, stacks: Callstacks) -> None:
        self._stacks = stacks
        self.values: list[Value] = []
        self.gradients: dict[int, int] = {}
        self._keys: dict[str, int] = {}
        self._named: dict[str, int] = {}
        """Maps the names under which a backward gets values of the forward to these values."""
        self._inlets: dict[int, int] = {}
        self._pushed: dict[int, list[int]] = {}
        """What a forward loop keeps of each iteration for backward, by the inlet of the stack."""
        self._leaves: set[int] = set()

    def block(self, block: Any) -> Block:
        for name, value in block.kwargs().items():
            known = self._named.get(name)
            self._keys[value.id] = self._new(value) if known is None else known
        arguments = [self._new(value) for value in block.args()]
        return Block([self._op(op) for op in block.ops], arguments)

    def _new(self, value: Any) -> int:
        told = str(value.type())
        if "NULL" in told:
            return -1
        self._keys[value.id] = key = len(self.values)
        stops = bool(value.stop_gradient)
        items = tuple(_tensor(*found, stops=stops) for found in _TENSOR.findall(told))
        is_list = told.startswith("vec")
        kept = items[0] if len(items) == 1 and not is_list else Value("", None, stops, items)
        self.values.append(kept)
        return key

    def _op(self, op: Any) -> Op:
        name, attributes = str(op.name()), op.attrs()
        inputs = [
            self._keys.get(value.id, -1) if value.initialized() else -1
            for value in op.operands_source()
        ]
        if name == "cf.tuple_pop":
            kept = self._pushed.get(self._inlets.get(inputs[0], -1), [])
            self._keys.update(
                (value.id, key) for value, key in zip(op.results(), kept, strict=False)
            )
            return Op(name, inputs, [])
        blocks = [self.block(block) for block in op.blocks()]
        outputs = [self._new(value) for value in op.results()]
        label = next((str(attributes[key]) for key in LABELS if key in attributes), "")
        shown = {
            key: attribute_text(value) for key, value in attributes.items() if key not in _HIDDEN
        }
        self._note(name, op, inputs, outputs, label)
        return Op(
            name,
            inputs,
            outputs,
            shown,
            label=label or shown.get("value", ""),
            layer=_layer(attributes),
            is_trainable=all(attributes.get("trainable", (True,))),
            blocks=blocks,
            stack=self._stacks.stack(attributes.get("op_callstack") or ()),
        )

    def _note(self, name: str, op: Any, inputs: list[int], outputs: list[int], label: str) -> None:
        if name in ("builtin.parameter", "pd_op.data"):
            self._named[label] = outputs[0]
            self._leaves.update(outputs)
        elif name == "builtin.shadow_output":
            self._named.setdefault(label, inputs[0])
        elif name == "cf.stack_create":
            _, inlet, outlet = outputs
            self._inlets[outlet] = inlet
        elif name == "cf.tuple_push":
            self._pushed[inputs[0]] = inputs[1:]
        else:
            self._note_gradients(name, op, inputs, outputs)

    def _note_gradients(self, name: str, op: Any, inputs: list[int], outputs: list[int]) -> None:
        if name.endswith("_grad"):
            # A gradient op names its inputs like the forward op, such as ``x``, and its result
            # ``x_grad``.
            with suppress(Exception):
                of = dict(zip(op.get_input_names(), inputs, strict=False))
                for told, output in zip(op.get_output_names(), outputs, strict=False):
                    leaf = of.get(told.removesuffix("_grad"), -1)
                    if output >= 0 and leaf in self._leaves:
                        self.gradients[output] = leaf
        elif name in ("builtin.combine", "pd_op.add_n"):
            leaves = {self.gradients.get(key, -1) for key in inputs}
            if len(leaves) == 1 and leaves != {-1}:
                for key in inputs:
                    del self.gradients[key]
                self.gradients[outputs[0]] = leaves.pop()


def _tensor(dimensions: str, dtype: str, *, stops: bool) -> Value:
    shape = tuple(map(int, dimensions.split("x")[:-1]))
    return Value(DTYPES.get(dtype, dtype), shape, stops)


def _layer(attributes: Mapping[str, Any]) -> str:
    """Return Paddle's name of the layers around an op.

    Paddle may add parameters while it builds a program. Then it also gives the ops before them the
    name of a layer. So at most as many names are returned as there are layer calls in the op's
    stack.
    """
    name = str(attributes.get("struct_name") or "")
    stack = attributes.get("op_callstack")
    if not name or not stack:
        return name
    calls = sum(line.endswith(", in _dygraph_call_func") for line in stack)
    return "/".join(name.split("/")[: calls + 1])


def parameter_paths(layers: Iterable[Any]) -> dict[str, str]:
    """Return the paths of parameters and buffers in a model, by their names in Paddle."""
    found: dict[str, str] = {}
    for layer in layers:
        with suppress(Exception):
            for path, tensor in (*layer.named_parameters(), *layer.named_buffers()):
                found.setdefault(tensor.name, path)
    return found
