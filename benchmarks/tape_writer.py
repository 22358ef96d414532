"""Writes a record op by op, like a traced run but without Paddle: tapes of any size.

A *tape* is a made-up trace. For graphs it has everything that a real trace has: ops with stacks and
sources, layers and their calls, tensors and parameters, grad nodes paired with their ops, and one
backward call. Times are drawn with a fixed seed, so a tape is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from random import Random

from paddle_lab.analysis.findings.registry import chosen
from paddle_lab.trace.record import Origin, Record
from paddle_lab.trace.schema import (
    BACKWARD_KINDS,
    FRAME_KINDS,
    PHASES,
    RECORD_TABLES,
    SCOPE_KINDS,
    TENSOR_KINDS,
)
from paddle_lab.trace.table import StringPool, TableBuilder

_USER, _, _PADDLE = range(len(FRAME_KINDS))
_INPUT, _OUTPUT = 0, 1
_ACTIVATION, _PARAMETER = TENSOR_KINDS.index("activation"), TENSOR_KINDS.index("parameter")
_EXTERNAL = TENSOR_KINDS.index("external")
_FLOAT32_BYTES = 4
_CELL = 4
_FIRST_ADDRESS = 0x55D0_0000_0000

Function = tuple[str, str]
"""File and qualified name of a function."""
_LAYER_CALL: Function = ("paddle/nn/layer/layers.py", "Layer.__call__")


class TapeWriter:
    """A record that is being written. Ops read and return tensors, which are given by their keys.

    Parameters
    ----------
    title
        The title of the traced code.
    """

    def __init__(self, title: str) -> None:
        self._strings = StringPool()
        self._tables = {name: TableBuilder(schema) for name, schema in RECORD_TABLES.items()}
        self._origin = Origin(title=title, paddle="3.3.1", python="3.11.7", device="cpu")
        self._random = Random(0)
        self._now_ns = 0
        self._function: Function = ("cell", "<module>")
        self._caller = -1
        self._scope = -1
        self._paths: list[tuple[str, int]] = []
        self._layers: dict[str, int] = {}
        self._frames: dict[tuple[str, str, int], int] = {}
        self._stacks: dict[tuple[int, int], int] = {}
        self._nodes: dict[int, int] = {}  # each tensor's grad node, which receives its gradient

    # Tensors

    def data(self, shape: Sequence[int]) -> int:
        """Add a tensor that no op made."""
        return self._tensor(shape, kind=_EXTERNAL)

    def parameter(self, name: str, shape: Sequence[int]) -> int:
        """Add a parameter of the current layer, and its accumulation node."""
        path = f"{self._paths[-1][0]}.{name}" if len(self._paths) > 1 else name
        key = self._tensor(shape, kind=_PARAMETER, name=f"{path}.w", path=path)
        self._nodes[key] = self._node("GradNodeAccumulation", parameter=key)
        return key

    def _tensor(
        self,
        shape: Sequence[int],
        *,
        kind: int,
        name: str = "",
        path: str = "",
        producer: int = -1,
        previous: int = -1,
    ) -> int:
        size_bytes = _FLOAT32_BYTES
        for extent in shape:
            size_bytes *= extent
        text = self._strings
        return self._tables["tensors"].append(
            text[name], text["float32"], text[str(list(shape))], text["cpu"],
            int(kind == _EXTERNAL), size_bytes, int(previous >= 0), kind, producer, previous, -1,
            text[path],
        )  # fmt: skip

    # Ops

    def op(
        self,
        name: str,
        *inputs: int,
        line: int,
        shape: Sequence[int] = (32, 64),
        outputs: int = 1,
        grad_nodes: Sequence[str] | None = None,
        attributes: str = "",
    ) -> int:
        """Add an op called on ``line`` of the current function; return its (first) output.

        Parameters
        ----------
        grad_nodes
            Names of its grad nodes, the node nearest to the loss first; by default one, named after
            the op. The last input belongs to the first node and the others to the last node, as in
            ``linear``, whose bias belongs to the sum.
        """
        key = self._op(name, self._stack(line), "forward", attributes)
        uses = self._tables["uses"]
        for slot, tensor in enumerate(inputs):
            uses.append(key, tensor, _INPUT, slot)
        made = [self._tensor(shape, kind=_ACTIVATION, producer=key) for _ in range(outputs)]
        for slot, tensor in enumerate(made):
            uses.append(key, tensor, _OUTPUT, slot)
        if grad_nodes is None:
            grad_nodes = (name.title().replace("_", ""),)
        if grad_nodes:
            nodes = [self._node(f"{kind}GradNode", op=key) for kind in grad_nodes]
            for tensor in made:
                self._nodes[tensor] = nodes[0]
            self._hand_on(nodes, inputs, shape)
        return made[0]

    def optimizer_op(self, name: str, parameters: Sequence[int], *, line: int) -> None:
        """Add an op that writes parameters in place."""
        key = self._op(name, self._stack(line), "optimizer", "0.9, 0.999, 1e-08")
        for slot, tensor in enumerate(parameters):
            self._tables["uses"].append(key, tensor, _INPUT, slot)
            shape = [32, 64]
            written = self._tensor(shape, kind=_PARAMETER, producer=key, previous=tensor)
            self._tables["uses"].append(key, written, _OUTPUT, slot)

    def _op(self, name: str, stack: int, phase: str, attributes: str) -> int:
        duration_ns = self._random.randrange(8_000, 60_000)
        key = self._tables["ops"].append(
            self._strings[name], self._scope, stack, 0, self._now_ns, duration_ns,
            PHASES.index(phase), self._strings[attributes], 0, 0,
        )  # fmt: skip
        self._now_ns += duration_ns + self._random.randrange(500, 9_000)
        return key

    # The autograd tape

    def _node(self, name: str, *, op: int = -1, parameter: int = -1) -> int:
        table = self._tables["grad_nodes"]
        scope = self._scope if op >= 0 else -1
        address = _FIRST_ADDRESS + 64 * self._random.randrange(1 << 24)
        return table.append(self._strings[name], address, op, parameter, scope)

    def _hand_on(self, nodes: list[int], inputs: Sequence[int], shape: Sequence[int]) -> None:
        edges, text = self._tables["grad_edges"], self._strings
        described = (text["float32"], text[str(list(shape))])
        for source, target in pairwise(nodes):
            edges.append(source, target, 0, *described)
        for slot, tensor in enumerate(inputs):
            target = self._nodes.get(tensor, -1)
            if target >= 0:
                is_last_of_many = len(nodes) > 1 and slot == len(inputs) - 1
                source = nodes[0] if is_last_of_many else nodes[-1]
                edges.append(source, target, 1 if is_last_of_many else slot, *described)

    def backward(self, loss: int, *, line: int) -> None:
        """Add a backward call that begins at ``loss``."""
        call = self._tables["backward_calls"].append(
            BACKWARD_KINDS.index("Tensor.backward"), self._stack(line), -1,
            len(self._tables["ops"]), 0, 0, 0,
        )  # fmt: skip
        self._tables["grad_roots"].append(call, self._nodes[loss])

    def optimizer(self, class_name: str, parameters: Sequence[int]) -> None:
        """Add an optimizer that has stepped once; its parameters stay alive."""
        key = self._tables["optimizers"].append(self._strings[class_name], 1)
        for tensor in parameters:
            self._tables["optimizer_parameters"].append(key, tensor)
            self._tables["living_tensors"].append(tensor)

    # Places of code: stacks, layers, scopes

    @contextmanager
    def function(self, file: str, name: str, *, line: int) -> Iterator[None]:
        """Enter, while the context is open, a function called on ``line`` of the current one."""
        outer = self._function, self._caller
        self._caller = self._stack(line)
        self._function = (file, name)
        yield
        self._function, self._caller = outer

    @contextmanager
    def layer(
        self, name: str, class_name: str, *, line: int, file: str = "model.py"
    ) -> Iterator[None]:
        """Enter, while the context is open, the ``forward`` of a layer called on ``line``.

        ``name`` is the layer's attribute in its parent; for the outermost layer it is a variable.
        """
        # As in Paddle, the variable is not part of the paths of its sublayers.
        path = f"{self._paths[-1][0]}.{name}" if len(self._paths) > 1 else name
        parent = self._paths[-1][1] if self._paths else -1
        if path not in self._layers:
            text = self._strings
            self._layers[path] = self._tables["layers"].append(text[path], text[class_name], parent)
        self._paths.append((path, self._layers[path]))
        outer = self._function, self._caller
        self._caller = self._stack_of(_LAYER_CALL, 1833, self._stack(line))
        self._function = (file, f"{class_name}.forward")
        with self.scope("layer", layer=self._layers[path]):
            yield
        self._function, self._caller = outer
        self._paths.pop()

    @contextmanager
    def scope(self, kind: str, name: str = "", *, layer: int = -1) -> Iterator[None]:
        """Enter, while the context is open, a call of a layer, a region or an optimizer step."""
        outer = self._scope
        self._scope = self._tables["scopes"].append(
            SCOPE_KINDS.index(kind), self._strings[name], outer, layer, -1, -1, 0
        )
        yield
        self._scope = outer

    def source(self, file: str, lines: list[str]) -> None:
        """Add the text of a file, or of the ``cell``."""
        cell = _CELL if file == "cell" else -1
        text = self._strings
        self._tables["sources"].append(text[file], 1, text["\n".join(lines)], cell)

    def _stack(self, line: int) -> int:
        return self._stack_of(self._function, line, self._caller)

    def _stack_of(self, function: Function, line: int, caller: int) -> int:
        identity = (*function, line)
        frame = self._frames.get(identity)
        if frame is None:
            file, name = function
            kind = _PADDLE if file.startswith("paddle/") else _USER
            cell = _CELL if file == "cell" else -1
            frame = self._frames[identity] = self._tables["frames"].append(
                self._strings[file], self._strings[name], line, line, 4, 40, kind, cell
            )
        stack = self._stacks.get((frame, caller))
        if stack is None:
            stack = self._stacks[frame, caller] = self._tables["stacks"].append(frame, caller)
        return stack

    def record(self) -> Record:
        """Return the record as written; it can answer what a trace answers by default."""
        self._origin.checks = chosen(None)
        self._origin.duration_ns = self._now_ns
        tables = {name: builder.build() for name, builder in self._tables.items()}
        return Record(tables, self._strings.to_list(), self._origin)
