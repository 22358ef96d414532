"""A trace of sparse tensors causes no extra output of Paddle's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import paddle
import pytest

import paddle_lab

CODE = """
import paddle, paddle_lab
data = paddle.ones([3, 3])
data.stop_gradient = False
early = data.to_sparse_coo(2)
with paddle_lab.trace(grads=True, check="all") as trace:
    made = (data * 2).to_sparse_coo(2)
    csr = (data * 3).to_sparse_csr()
    total = made.to_dense().sum() + early.to_dense().sum()
    assert csr.is_sparse_csr() and csr.nnz() == 9
    total.backward()
assert not trace.record.origin.notices, trace.record.origin.notices
"""


@pytest.mark.parametrize("pure", ["", "1"])
def test_paddle_does_not_warn_of_versions(pure: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[3],
        env={**os.environ, "PADDLE_LAB_PURE_PYTHON": pure},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "version" not in done.stderr


def test_ops_on_sparse_tensors_hang_together() -> None:
    data = paddle.ones([3, 3])
    data.stop_gradient = False
    with paddle_lab.trace() as trace:
        made = (data * 2).to_sparse_coo(2)
        dense = paddle.sparse.nn.functional.relu(made).to_dense() + made.to_dense()
        dense.sum().backward()
    names = [op.name for op in trace.ops]
    graph = trace.graph("forward")
    edges = {(names[source], names[target]) for source, target in graph.edges()}
    assert edges >= {
        ("multiply", "sparse_to_sparse_coo"),
        ("sparse_to_sparse_coo", "sparse_relu"),
        ("sparse_relu", "sparse_to_dense"),
        ("sparse_to_sparse_coo", "sparse_to_dense"),
    }
    assert trace.record.tensors["version"].tolist() == [0] * len(trace.record.tensors)


def test_what_compresses_rows_is_an_op_and_owns_what_it_allocates() -> None:
    data = paddle.eye(29)
    with paddle_lab.memory() as trace:
        csr = data.to_sparse_csr()
    assert [op.name for op in trace.ops] == ["sparse_to_sparse_csr"]
    made = [block for block in trace.allocations if block.start_ns is not None]
    assert len(made) >= 3
    assert {block.label for block in made} == {"sparse_to_sparse_csr"}
    assert csr.nnz() == 29
