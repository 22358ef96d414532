"""Other libraries read each table of a trace: by Arrow's PyCapsule interface, pandas, CSV."""

from __future__ import annotations

import csv

import duckdb
import numpy as np
import paddle
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import paddle_lab
from paddle_lab.analysis.tables.columns import listed
from paddle_lab.analysis.tables.data_frames import Framed


@pytest.fixture(scope="module")
def trace():
    net = paddle.nn.Sequential(paddle.nn.Linear(4, 4), paddle.nn.ReLU())
    kept = []
    with paddle_lab.memory(grads=True, values=True, profile=True) as trace:
        for _ in range(4):
            with paddle_lab.region("größe"):
                kept.append(net(paddle.randn([2, 4])))
            kept[-1].mean().backward()
            paddle_lab.step()
    return trace


TABLES = {
    "ops": lambda trace: trace.ops,
    "some ops": lambda trace: trace.ops[2:5],
    "tensors": lambda trace: trace.tensors,
    "allocations": lambda trace: trace.allocations,
    "values": lambda trace: trace.values,
    "worst values": lambda trace: trace.values.worst,
    "kernels": lambda trace: trace.kernels,
    "gradients": lambda trace: trace.gradients,
    "curve": lambda trace: trace.gradients.curve(),
    "breakdown": lambda trace: trace.memory.by_op(),
    "growth": lambda trace: trace.memory.growth(),
    "fragmentation": lambda trace: trace.memory.fragmentation(),
    "holders": lambda trace: trace.memory.holders(),
    "backward calls": lambda trace: trace.backward_calls,
    "regions": lambda trace: trace.regions,
    "compared ops": lambda trace: paddle_lab.compare(trace, trace).rows,
    "compared gradients": lambda trace: paddle_lab.compare(trace, trace).gradient_rows,
    **{
        f"by {by}": lambda trace, by=by: trace.table(by)
        for by in ("op", "layer", "line", "turn", "node")
    },
}


def test_no_table_is_left_out(trace):
    read_here = {type(read(trace)) for read in TABLES.values()}
    kinds = Framed.__subclasses__()
    for kind in kinds:  # the list grows in this loop
        kinds += kind.__subclasses__()
    assert read_here == {kind for kind in kinds if "_columns" in vars(kind)}


def plain(value):
    return (
        [plain(each) for each in value] if isinstance(value, (list, tuple, np.ndarray)) else value
    )


@pytest.mark.parametrize("name", TABLES)
def test_all_four_read_the_same(trace, name):
    read = TABLES[name](trace)
    expected = {column: plain(listed(values)) for column, values in read._columns().items()}
    assert pa.table(read).to_pydict() == expected
    assert pl.DataFrame(read).to_dict(as_series=False) == expected
    cells = duckdb.sql("select * from read").fetchall()
    assert [plain(list(row)) for row in cells] == [
        list(row) for row in zip(*expected.values(), strict=True)
    ]
    frame = pd.DataFrame.from_arrow(read)
    assert list(frame) == list(expected)
    for column, values in expected.items():
        unknown = [value is None for value in values]
        assert frame[column].isna().tolist() == unknown
        known = [plain(cell) for cell in frame[column][~np.array(unknown, bool)].tolist()]
        assert known == [value for value in values if value is not None]


@pytest.mark.parametrize("name", TABLES)
def test_pandas_and_csv_have_the_same_rows(trace, name, tmp_path):
    read = TABLES[name](trace)
    columns = read._columns()
    count = len(next(iter(columns.values())))
    frame = read.to_pandas()
    assert len(frame) == count
    # The first is of a device, the second of a notebook's cell; the third needs digests.
    assert count or name in {"fragmentation", "holders", "compared gradients"}
    assert [*filter(None, frame.index.names), *frame] == [*columns]
    with read.to_csv(tmp_path / "table.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == [*columns]
    assert len(rows) == count


def test_texts_that_are_not_ascii_arrive(trace):
    assert set(pl.DataFrame(trace.regions)["name"]) == {"größe"}
    assert pl.DataFrame(trace.ops)["region"].n_unique() == 2


def test_an_empty_table_has_its_columns():
    with paddle_lab.trace() as trace:
        pass
    assert pl.DataFrame(trace.ops).shape == (0, 19)
    assert pa.table(trace.tensors).num_rows == 0
    values = pl.DataFrame(trace.values)
    assert values["nans"].sum() in (0, None)
    with paddle_lab.trace(values=True) as filled:
        paddle.ones([2])
    both = pl.concat([values, pl.DataFrame(filled.values)], how="vertical_relaxed")
    assert both["elements"].to_list() == [2]
