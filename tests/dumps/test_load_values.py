"""Files of values as runs: checksums that Paddle writes, and PaDiff's report with its arrays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import pytest
from paddle import nn
from paddle.nn import functional as F

import paddle_lab
from paddle_lab.dumps.values import read_checksums
from paddle_lab.trace.record import TraceFileError


def checksums(path: Path, scale: float) -> paddle_lab.Trace:
    """Return the run of a step whose checksums Paddle wrote."""
    paddle.seed(1)
    net = nn.Sequential(nn.Conv2D(3, 4, 3), nn.BatchNorm2D(4), nn.ReLU(), nn.Flatten())
    x = paddle.rand([2, 3, 6, 6])
    paddle.set_flags({"FLAGS_tensor_md5_checksum_output_path": str(path)})
    try:
        part, _ = paddle.split(net(x) * scale, 2, axis=1)
        F.softmax(part).max().backward()
    finally:
        paddle.set_flags({"FLAGS_tensor_md5_checksum_output_path": ""})
    return paddle_lab.load_dump(path)


def test_checksums_of_paddle(tmp_path):
    run = checksums(tmp_path / "a.log", 2.0)
    lines = (tmp_path / "a.log").read_text().splitlines()
    known = [line for line in lines if not line.endswith(":None")]
    assert sum(len(op.outputs) for op in run.ops) == len(known)
    forward = [op for op in run.ops if op.phase == "forward"]
    names = ["conv2d", "reshape", "add", "batch_norm", "relu", "flatten", "scale"]
    assert [op.name for op in forward][:7] == names
    assert len(forward[3].outputs) == 6
    assert forward[0].outputs[0].shape == (2, 4, 4, 4)
    assert [op.name + ":" for op in run.ops if op.phase == "backward"] == [
        line.partition("_float")[0] + "@Grad:" if "_float" in line else line[: line.index(":") + 1]
        for line in known
        if "@Grad" in line
    ]
    assert paddle_lab.compare(run, run).first is None


def test_where_two_files_of_checksums_first_differ(tmp_path):
    a, b = (checksums(tmp_path / f"{scale}.log", scale) for scale in (2.0, 3.0))
    comparison = paddle_lab.compare(a, b)
    assert comparison.first is not None
    assert (comparison.first.name, comparison.first.state) == ("scale", "different")
    assert comparison.record.origin.notices[0] == comparison.findings[0].message
    with paddle_lab.trace(digest=True) as trace:
        paddle.ones([2]) * 2
    assert any("MD5" in one for one in paddle_lab.compare(a, trace).record.origin.notices)


def test_an_op_whose_name_ends_in_a_digit():
    lines = [f"log2{n}_out_float32_2:{n:032x}" for n in range(1, 12)]
    lines.insert(4, f"log1_out_float32_2:{0:032x}")
    names = [op.name for op in read_checksums("\n".join(lines))]
    assert names == [*["log2"] * 4, "log", *["log2"] * 7]
    # A process that has run many ops before.
    assert [op.name for op in read_checksums(f"relu141_out_float32_2:{1:032x}")] == ["relu"]


def padiff(folder: Path, change: float = 0.0) -> paddle_lab.Trace:
    """Write a report as PaDiff's ``dump_report`` does, and open it."""
    (folder / "tensors").mkdir(parents=True)
    number = 0

    def dumped(array: Any) -> list[dict[str, str]]:
        nonlocal number
        file = f"tensor_{number}.npy"
        number += 1
        np.save(folder / "tensors" / file, array)
        shape = str(list(array.shape))
        return [{"path": f"/elsewhere/{file}", "shape": shape, "dtype": f"paddle.{array.dtype}"}]

    def node(name: str, route: str, step: int, out: Any, children: Any = ()) -> dict[str, Any]:
        metas = {"fwd_step": step, "bwd_step": 9 - step, "net_id": step}
        return {
            "name": name, "route": route, "type": "net", "metas": metas, "stack": "",
            "fwd_outputs": dumped(out), "bwd_grads": dumped(out * 2), "children": [*children],
        }  # fmt: skip

    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    linear, relu = node("Linear", "fc", 0, x), node("ReLU", "act", 1, x + change)
    tree = [node("Net", "", 2, x * 2 + change, [linear, relu])]
    report = {"model_name": "net", "framework": "paddle", "tree": tree}
    (folder / "report.json").write_text(json.dumps(report))
    (folder / "params.json").write_text("{}")
    return paddle_lab.load_dump(folder)


def test_reports_of_padiff(tmp_path):
    a, b = padiff(tmp_path / "a"), padiff(tmp_path / "b", 0.5)
    assert [(op.name, op.layer, op.phase) for op in a.ops] == [
        ("Linear", "fc", "forward"), ("ReLU", "act", "forward"), ("Net", "", "forward"),
        ("Net", "", "backward"), ("ReLU", "act", "backward"), ("Linear", "fc", "backward"),
    ]  # fmt: skip
    assert not a.record.origin.notices
    first = paddle_lab.compare(a, b).first
    assert first is not None
    assert (first.name, first.state, first.max_abs) == ("ReLU", "different", 0.5)
    assert paddle_lab.compare(a, padiff(tmp_path / "c")).first is None


@pytest.mark.parametrize("text", ["[]", '{"tree": [{}]}', '{"tree": 3}', "{", "null"])
def test_a_report_that_is_none(tmp_path, text):
    (tmp_path / "report.json").write_text(text)
    with pytest.raises(TraceFileError):
        paddle_lab.load_dump(tmp_path)
