"""Small traces written by hand: records without Paddle, for tests of their readers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from paddle_lab.trace.record import Origin, Record
from paddle_lab.trace.schema import ENUMERATIONS, RECORD_TABLES
from paddle_lab.trace.table import StringPool, TableBuilder

Frame = tuple[str, str, int] | tuple[str, str, int, str]
"""File, function, line and, where it is not ``"user"``, the kind of frame."""


@dataclass(frozen=True)
class T:
    """A tensor of a record being written."""

    key: int


class RecordWriter:
    """Writes a record op by op, as a run would: ``y = w.op("matmul", x, weight)``."""

    def __init__(self) -> None:
        self.strings = StringPool()
        self.tables = {name: TableBuilder(schema) for name, schema in RECORD_TABLES.items()}
        self.origin = Origin(title="Cell 4", duration_ns=1_500_000)
        self._scope = -1
        self._scope_layers: list[str] = []
        self._layers: dict[str, int] = {}
        self._loops: dict[tuple[str, int], int] = {}
        self._stacks: dict[tuple[int, int], int] = {}
        self._frames: dict[tuple[int | str, ...], int] = {}
        self._callers: list[Frame] = []
        self._clock_ns = 0
        self._next_address = 0x7F10_0000_0000

    def row(self, table: str, **cells: object) -> int:
        """Append a row; text and enumeration members are encoded, absent cells are 0 or -1."""
        row = []
        for column, column_type in RECORD_TABLES[table].items():
            value = cells.get(column, -1 if column_type.startswith("key:") else 0)
            if column_type == "str":
                value = self.strings[str(value or "")]
            elif isinstance(value, str):
                value = ENUMERATIONS[column_type.partition(":")[2]].index(value)
            row.append(int(value))  # type: ignore[call-overload]
        return self.tables[table].append(*row)

    def tensor(self, name: str = "", shape: Sequence[int] = (2, 3), **cells: object) -> T:
        """Add a tensor that no op made: data by default."""
        text = str(list(shape))
        size = 4
        for extent in shape:
            size *= extent
        cells = {"kind": "external", "dtype": "float32", "place": "cpu", "bytes": size, **cells}
        return T(self.row("tensors", name=name, shape=text, **cells))

    def parameter(self, path: str, shape: Sequence[int] = (3, 3)) -> T:
        """Add a layer's parameter."""
        return self.tensor(f"param_{path}", shape, kind="parameter", path=path)

    def op(
        self,
        name: str,
        *inputs: T,
        line: int = 1,
        shape: Sequence[int] = (2, 3),
        outputs: int = 1,
        phase: str = "forward",
        in_place: T | None = None,
        duration_ns: int = 1000,
        attributes: str = "",
        thread: int = 0,
    ) -> T:
        """Add an op called on ``line`` of the innermost function; return its (first) output."""
        op = self.row(
            "ops",
            name=name,
            scope=self._scope,
            stack=self.stack(line),
            start_ns=self._clock_ns,
            duration_ns=duration_ns,
            phase=phase,
            attributes=attributes,
            thread=thread,
        )
        self._clock_ns += duration_ns + 100
        for slot, tensor in enumerate(inputs):
            self.row("uses", op=op, tensor=tensor.key, role="input", slot=slot)
        results = []
        for slot in range(outputs):
            cells: dict[str, object] = {"producer": op, "kind": "activation"}
            if in_place is not None:
                cells |= {"previous": in_place.key, "version": 1}
            result = self.tensor(f"{name}_{op}", shape, **cells)
            self.row("uses", op=op, tensor=result.key, role="output", slot=slot)
            results.append(result)
        return results[0] if results else T(-1)

    def producer(self, tensor: T) -> int:
        """Return the op that made a tensor."""
        return self.tables["tensors"].get(tensor.key, "producer")

    def stack(self, line: int) -> int:
        """Return the stack of a call made on ``line`` of the innermost function."""
        frames = list(self._callers) or [("cell", "<module>", line)]
        file, function, _, *kind = frames[-1]
        frames[-1] = (file, function, line, *kind)  # type: ignore[assignment]
        caller = -1
        for file, function, frame_line, *kind in frames:
            identity = (file, function, frame_line, kind[0] if kind else "user")
            if identity not in self._frames:
                self._frames[identity] = self.row(
                    "frames",
                    file=file,
                    function=function,
                    line=frame_line,
                    end_line=frame_line,
                    kind=identity[3],
                    cell=4 if file == "cell" else -1,
                )
            node = (self._frames[identity], caller)
            if node not in self._stacks:
                self._stacks[node] = self.row("stacks", frame=node[0], caller=caller)
            caller = self._stacks[node]
        return caller

    @contextmanager
    def call(
        self, function: str, *, line: int = 1, file: str = "cell", kind: str = "user"
    ) -> Iterator[None]:
        """Be inside a function that was called on ``line`` of the one around it."""
        outer = list(self._callers)
        callers: list[Frame] = outer or [("cell", "<module>", line)]
        last_file, last_function, _, *last_kind = callers[-1]
        callers[-1] = (last_file, last_function, line, *last_kind)  # type: ignore[assignment]
        self._callers = [*callers, (file, function, 0, kind)]
        yield
        self._callers = outer

    @contextmanager
    def scope(self, kind: str, name: str = "", **cells: object) -> Iterator[int]:
        """Run a ``with`` block inside a region, a PyLayer, a backward call or an optimizer step."""
        outer = self._scope
        self._scope = self.row("scopes", kind=kind, name=name, parent=outer, **cells)
        yield self._scope
        self._scope = outer

    @contextmanager
    def function(self, name: str, **call: object) -> Iterator[None]:
        """Be inside a call of the user's function, which is a scope of its own."""
        with self.call(name, **call), self.scope("call", name):  # type: ignore[arg-type]
            yield

    @contextmanager
    def turn(self, words: str, number: int, *, value: str = "", line: int = 1) -> Iterator[None]:
        """Run a ``with`` block inside an iteration of the loop that begins on ``line``."""
        loop = self._loops.get((words, line))
        if loop is None:
            loop = self.row("loops", file="cell", line=line, cell=4, words=words)
            self._loops[words, line] = loop
        with self.scope("turn", words) as scope:
            self.row("turns", scope=scope, loop=loop, number=number, value=value)
            yield

    @contextmanager
    def layer(self, path: str, class_name: str = "Layer") -> Iterator[int]:
        """Run a ``with`` block inside a call of a layer."""
        parent = self._layers.get(self._scope_layers[-1], -1) if self._scope_layers else -1
        if path not in self._layers:
            self._layers[path] = self.row(
                "layers", path=path, parent=parent, **{"class": class_name}
            )
        self._scope_layers.append(path)
        with self.scope("layer", path, layer=self._layers[path]) as scope:
            yield scope
        self._scope_layers.pop()

    def grad_node(self, name: str, op: int = -1, parameter: T | None = None) -> int:
        """Add a grad node."""
        return self.row(
            "grad_nodes",
            name=name,
            op=op,
            address=0x7F00_0000_0000 + 64 * len(self.tables["grad_nodes"]),
            parameter=parameter.key if parameter else -1,
        )

    def grad_edge(self, source: int, target: int, slot: int = 0) -> None:
        """Add an edge: ``source`` passes a gradient to ``target``."""
        self.row(
            "grad_edges", source=source, target=target, slot=slot, dtype="float32", shape="[2, 3]"
        )

    def backward(
        self, *roots: int, kind: str = "Tensor.backward", line: int = 9, **cells: object
    ) -> int:
        """Add a backward call."""
        before = len(self.tables["ops"])
        call = self.row(
            "backward_calls", kind=kind, stack=self.stack(line), ops_before=before, **cells
        )
        for root in roots:
            self.row("grad_roots", backward_call=call, grad_node=root)
        return call

    def allocation(
        self,
        size_bytes: int,
        *,
        op: int = -1,
        tensor: T | None = None,
        kind: str = "",
        start_ns: int | None = None,
        end_ns: int = -1,
        address: int | None = None,
        grad_node: int = -1,
        line: int | None = None,
        **cells: object,
    ) -> int:
        """Add a block and return its key; rows must come by start, those from before first.

        ``op`` (``tensor``'s producer by default) gives start, stack, scope, phase and thread where
        they are not told; an address of its own comes after all those given before.
        """
        if op < 0 and tensor is not None:
            op = self.producer(tensor)
        if op >= 0:
            for column in ("scope", "stack", "phase", "thread"):
                cells.setdefault(column, self.tables["ops"].get(op, column))
            start_ns = self.tables["ops"].get(op, "start_ns") if start_ns is None else start_ns
        if line is not None:
            cells["stack"] = self.stack(line)
        if address is None:
            address = self._next_address
            # Paddle's allocator hands out multiples of 256 bytes.
            self._next_address += max(256, -(-size_bytes // 256) * 256)
        return self.row(
            "allocations",
            address=address,
            bytes=size_bytes,
            place=cells.pop("place", "cpu"),
            start_ns=self._clock_ns if start_ns is None else start_ns,
            end_ns=end_ns,
            op=op,
            grad_node=grad_node,
            tensor=-1 if tensor is None else tensor.key,
            kind=kind or ("temporary" if tensor is None else "activation"),
            **cells,
        )

    def memory_total(
        self, time_ns: int, allocated_bytes: int, reserved_bytes: int, place: str = "cpu"
    ) -> int:
        """Add the values of Paddle's own counters at a moment."""
        return self.row(
            "memory_totals",
            time_ns=time_ns,
            place=place,
            allocated_bytes=allocated_bytes,
            reserved_bytes=reserved_bytes,
        )

    def step(self, time_ns: int | None = None, scope: int = -1) -> int:
        """Let a training step end: now by default, by an optimizer's scope if one is given."""
        return self.row(
            "steps", time_ns=self._clock_ns if time_ns is None else time_ns, scope=scope
        )

    def holder(self, allocation: int, kind: str, name: str) -> int:
        """Add a holder that kept a block alive after the cell."""
        return self.row("holders", allocation=allocation, kind=kind, name=name)

    def record(self) -> Record:
        """Return what has been written so far."""
        tables = {name: builder.build() for name, builder in self.tables.items()}
        return Record(tables, self.strings.to_list(), self.origin)
