"""The packed format of a record compared with Arrow IPC: size, time to write, time to read.

``python benchmarks/format.py [TRACE …]`` prints a Markdown table for two made-up traces and the
given files. Arrow is measured with arro3 or pyarrow, whichever is installed.
"""

from __future__ import annotations

import io
import json
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from paddle_lab.trace.file import load
from paddle_lab.trace.pack import pack
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import RECORD_TABLES
from paddle_lab.trace.table import StringPool, TableBuilder
from paddle_lab.trace.unpack import unpack

_REPEATS = 5


def made_up(op_count: int) -> Record:
    """Return a network of blocks (Linear, ReLU, add) with stacks, sources and a backward graph."""
    random = np.random.default_rng(0)
    strings = StringPool()
    tables = {name: TableBuilder(schema) for name, schema in RECORD_TABLES.items()}
    source = "\n".join(f"x = block_{i}(x) + x  # line {i}" for i in range(120))
    tables["sources"].append(strings["<cell 4>"], 1, strings[source], 4)
    for line in range(1, 121):
        frame = tables["frames"].append(
            strings["<cell 4>"], strings["Net.forward"], line, line, 4, 24, 0, 4
        )
        tables["stacks"].append(frame, -1)
    now_ns, last, last_node = 0, -1, -1
    for op in range(op_count):
        path = f"net.layers.{op // 3}"
        if op % 3 == 0:
            layer = tables["layers"].append(strings[path], strings["Block"], -1)
            scope = tables["scopes"].append(0, strings[path], -1, layer, -1, -1, 0)
        duration_ns = int(random.integers(8_000, 60_000))
        name = ("linear", "relu", "add")[op % 3]
        tables["ops"].append(
            strings[name], scope, op % 120, 0, now_ns, duration_ns, 0, strings[""], 0, 0
        )
        now_ns += duration_ns + int(random.integers(500, 9_000))
        address = 0x55D0_0000_0000 + int(random.integers(1 << 30)) * 16
        node = tables["grad_nodes"].append(
            strings[f"{name.title()}GradNode"], address, op, -1, scope
        )
        shape = strings["[32, 64]"]
        if name == "linear":
            for role, extent in (("weight", "[64, 64]"), ("bias", "[64]")):
                parameter = tables["tensors"].append(
                    strings[f"linear_{op // 3}.{role[0]}_0"], strings["float32"], strings[extent],
                    strings["cpu"], 0, 16384, 0, 1, -1, -1, -1, strings[f"{path}.{role}"],
                )  # fmt: skip
                tables["uses"].append(op, parameter, 0, 1)
                leaf = tables["grad_nodes"].append(
                    strings["GradNodeAccumulation"], 0x55D1_0000_0000 + op * 64, -1, parameter, -1
                )
                tables["grad_edges"].append(node, leaf, 1, strings["float32"], strings[extent])
        result = tables["tensors"].append(
            0, strings["float32"], shape, strings["cpu"], 0, 8192, 0, 0, op, -1, -1, 0
        )
        if last >= 0:
            tables["uses"].append(op, last, 0, 0)
            tables["grad_edges"].append(node, last_node, 0, strings["float32"], shape)
        tables["uses"].append(op, result, 1, 0)
        last, last_node = result, node
    call = tables["backward_calls"].append(0, 0, -1, op_count, 0, 0, 0)
    tables["grad_roots"].append(call, last_node)
    record = Record.empty()
    record.tables = {name: builder.build() for name, builder in tables.items()}
    record.strings = strings.to_list()
    return record


Format = tuple[str, Callable[[Record], bytes], Callable[[bytes], Any]]


def formats() -> Iterator[Format]:
    """Yield name, writer and reader of each format that is installed."""
    yield "paddle_lab", pack, unpack
    try:
        yield from _pyarrow()
    except ImportError:
        print("pyarrow is not installed: pip install pyarrow", file=sys.stderr)
    try:
        yield from _arro3()
    except ImportError:
        print("arro3 is not installed: pip install arro3-core arro3-io", file=sys.stderr)


def _columns(record: Record) -> dict[str, dict[str, np.ndarray]]:
    strings = {"strings": {"text": np.asarray(record.strings, dtype=object)}}
    return {**{name: table.columns for name, table in record.tables.items()}, **strings}


def _pyarrow() -> Iterator[Format]:
    import pyarrow as pa

    def write(record: Record, *, compression: str | None) -> bytes:
        options = pa.ipc.IpcWriteOptions(compression=compression)
        parts = []
        for columns in _columns(record).values():
            table = pa.table({name: pa.array(column) for name, column in columns.items()})
            sink = io.BytesIO()
            with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
                writer.write_table(table)
            parts.append(sink.getvalue())
        return _joined(parts)

    def read(data: bytes) -> Any:
        return [pa.ipc.open_stream(part).read_all() for part in _parted(data)]

    yield "Arrow IPC (pyarrow)", lambda record: write(record, compression=None), read
    yield "Arrow IPC, zstd (pyarrow)", lambda record: write(record, compression="zstd"), read
    yield (
        "Arrow IPC in one zlib stream (pyarrow)",
        lambda record: zlib.compress(write(record, compression=None)),
        lambda data: read(zlib.decompress(data)),
    )


def _arro3() -> Iterator[Format]:
    from arro3.core import Array, DataType, Table
    from arro3.io import read_ipc_stream, write_ipc_stream

    def write(record: Record) -> bytes:
        parts = []
        for columns in _columns(record).values():
            arrays = {
                name: Array(column.tolist(), DataType.utf8())
                if column.dtype == object
                else Array.from_numpy(column)
                for name, column in columns.items()
            }
            sink = io.BytesIO()
            write_ipc_stream(Table.from_pydict(arrays), sink, compression=None)
            parts.append(sink.getvalue())
        return zlib.compress(_joined(parts))

    def read(data: bytes) -> Any:
        return [
            read_ipc_stream(io.BytesIO(part)).read_all() for part in _parted(zlib.decompress(data))
        ]

    yield "Arrow IPC in one zlib stream (arro3)", write, read


def _joined(parts: list[bytes]) -> bytes:
    lengths = json.dumps([len(part) for part in parts]).encode()
    return len(lengths).to_bytes(4, "little") + lengths + b"".join(parts)


def _parted(data: bytes) -> list[bytes]:
    start = 4 + int.from_bytes(data[:4], "little")
    parts = []
    for length in json.loads(data[4:start]):
        parts.append(data[start : start + length])
        start += length
    return parts


def best_ms(run: Callable[[], Any]) -> float:
    times = []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def main() -> None:
    records = {"made up, 1,000 ops": made_up(1_000), "made up, 20,000 ops": made_up(20_000)}
    records |= {Path(path).name: load(path) for path in sys.argv[1:]}
    print("| trace | format | bytes | to ours | write ms | read ms |")
    print("|---|---|---:|---:|---:|---:|")
    for title, record in records.items():
        ours = len(pack(record))
        for name, write, read in formats():
            data = write(record)
            print(
                f"| {title} | {name} | {len(data):,} | {len(data) / ours:.2f} | "
                f"{best_ms(lambda w=write, r=record: w(r)):.1f} | "
                f"{best_ms(lambda r=read, d=data: r(d)):.1f} |"
            )


if __name__ == "__main__":
    main()
