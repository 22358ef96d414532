"""``load_dump`` on Paddle's files, compared with the files themselves and with our own trace."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import paddle
import pytest
from paddle import nn

import paddle_lab
from paddle_lab.trace.record import TraceFileError

_POINTERS = re.compile(r'label="([^\\]+)\\nPtr: 0x([0-9a-f]+)"')
_EDGES = re.compile(r'node_\d+->node_\d+\[label="(.*?)"\]')
_FLAGS = {
    "FLAGS_enable_unique_name": (True, False),
    "FLAGS_call_stack_level": (3, 1),
}


@pytest.fixture(scope="module")
def dumped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, paddle_lab.Trace]:
    """What Paddle dumps of a step, and our own trace of it."""
    folder = tmp_path_factory.mktemp("dump")
    paths = {
        "FLAGS_dump_api_python_stack_path": str(folder / "api_forward_stack.txt"),
        "FLAGS_dump_grad_node_forward_stack_path": str(folder / "grad_node_forward_stack.txt"),
    }
    flags = _FLAGS | {name: (path, "") for name, path in paths.items()}
    paddle.set_flags({name: on for name, (on, _) in flags.items()})
    try:
        net = nn.Sequential(nn.Conv2D(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 2))
        with paddle_lab.trace(log=3) as trace:
            x = paddle.rand([2, 3, 8, 8])
            loss = net(x).sum()
            loss.backward(dump_backward_graph_path=str(folder))
            with paddle.utils.capture_backward_subgraph_guard(str(folder / "part"), True):
                loss = net(x).mean()
            loss.backward()
    finally:
        paddle.set_flags({name: off for name, (_, off) in flags.items()})
    log = "".join(
        f"I1126 10:53:27.000001 11 {entry.source_file}:{entry.source_line}] {entry.text}\n"
        for entry in trace.log
    )
    (folder / "vlog.log").write_text(log, encoding="utf-8")
    return folder, trace


def graphs(folder: Path) -> list[str]:
    return [file.read_text() for file in sorted(folder.rglob("*_backward_graph.dot"))]


def nodes(trace: paddle_lab.Trace) -> Counter[tuple[str, int]]:
    table = trace.record.grad_nodes
    names = [trace.record.text(code) for code in table["name"].tolist()]
    return Counter(zip(names, table["address"].tolist(), strict=True))


def test_nodes_and_edges_are_those_of_the_files(dumped: tuple[Path, paddle_lab.Trace]) -> None:
    folder, _ = dumped
    trace = paddle_lab.load_dump(folder)
    found = [pair for text in graphs(folder) for pair in _POINTERS.findall(text)]
    assert nodes(trace) == Counter((name, int(address, 16)) for name, address in found)
    assert len(trace.backward_calls) == 2
    labels = [label for text in graphs(folder) for label in _EDGES.findall(text)]
    assert len(trace.record.grad_edges) == len(labels)
    shapes = [label.rpartition("\\n")[2] for label in labels]
    record = trace.record
    assert Counter(shapes) == Counter(
        record.text(int(dtype)) + record.text(int(shape))
        for dtype, shape in zip(record.grad_edges["dtype"], record.grad_edges["shape"], strict=True)
    )
    assert len(trace.record.origin.notices) == 1


def test_names_and_lines_are_those_of_our_own_trace(
    dumped: tuple[Path, paddle_lab.Trace],
) -> None:
    folder, own = dumped
    trace = paddle_lab.load_dump(folder)
    # The second call ran without a dump of its graph outside of the part, which has all but leaves.
    assert set(nodes(trace)) <= set(nodes(own))
    lines = {}
    for each in (own, trace):
        at, record = each.graph("backward"), each.record
        lines[each] = {
            int(record.grad_nodes["address"][node]): (Path(cells["file"]).name, cells["line"])
            for node, cells in at.nodes(data=True)
            if cells["file"]
        }
    assert lines[trace]
    for address, place in lines[trace].items():
        assert lines[own][address] == place
    parameters = {tensor.name for tensor in trace.tensors if tensor.kind == "parameter"}
    assert parameters == {tensor.name for tensor in own.tensors if tensor.kind == "parameter"}
    named = {op.name for op in trace.ops if op.outputs}
    assert {"conv2d1", "relu1", "matmul1"} <= {re.sub(r"\d+$", "1", name) for name in named}


def test_ops_are_joined_by_their_tensors_and_the_log_by_names(
    dumped: tuple[Path, paddle_lab.Trace],
) -> None:
    folder, _ = dumped
    trace = paddle_lab.load_dump(folder)
    for op in trace.ops:
        for tensor in op.inputs:
            assert tensor.producer is None or tensor.producer < op.key
    for entry in trace.log:
        named = re.match(r"=+Running_C\+\+_API: (\w+)=", entry.text)
        if named is not None and "_grad" not in named[1]:
            assert entry.name == named[1]
        # ``uniform`` logs nothing else.
        if (
            told := re.match(r"\s*Forward Debug Info \{\s*API_Name: (\w+)", entry.text)
        ) is not None:
            assert entry.name == told[1]
        if (node := re.match(r"(\S+)\(0x\w+\) Preparing", entry.text)) is not None:
            assert entry.name in {node[1], ""}
    values = [entry for entry in trace.log if entry.source_file.endswith("_grad_tensors.log")]
    assert any(entry.text.startswith("matmul") and entry.name for entry in values)
    assert all("dtype: float32" in entry.text for entry in values)


def test_the_log_alone_gives_the_forward_graph(
    dumped: tuple[Path, paddle_lab.Trace], tmp_path: Path
) -> None:
    folder, _ = dumped
    shutil.copy(folder / "vlog.log", tmp_path)
    trace = paddle_lab.load_dump(tmp_path)
    edges = Counter(
        (re.sub(r"\d+$", "", trace.ops[tensor.producer].name), re.sub(r"\d+$", "", op.name))
        for op in trace.ops
        for tensor in op.inputs
        if tensor.producer is not None
    )
    assert edges["relu", "flatten"] == 2
    assert edges["matmul", "add"] == 2
    assert edges["flatten", "matmul"] == 2


def test_it_opens_where_there_is_no_paddle(dumped: tuple[Path, paddle_lab.Trace]) -> None:
    folder, _ = dumped
    code = (
        "import sys; sys.modules['paddle'] = None; import paddle_lab;"
        f"print(len(paddle_lab.load_dump({str(folder)!r}).record.grad_nodes))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(run.stdout) == len(paddle_lab.load_dump(folder).record.grad_nodes)


def test_what_is_damaged_or_unknown_is_named_and_the_rest_is_shown(
    dumped: tuple[Path, paddle_lab.Trace], tmp_path: Path
) -> None:
    folder = tmp_path / "dump"
    shutil.copytree(dumped[0], folder)
    first, *_ = sorted(folder.glob("*_backward_graph.dot"))
    text = first.read_text()
    first.write_text(text[: int(len(text) * 0.8)])
    (folder / "notes.txt").write_text("nothing")
    (folder / "empty.dot").write_text("")
    trace = paddle_lab.load_dump(folder)
    assert len(trace.record.grad_nodes) == len(dumped_nodes(folder))
    damaged, unknown, _ = trace.record.origin.notices
    assert first.name in damaged
    assert "notes.txt" in unknown
    assert "empty.dot" in unknown


def dumped_nodes(folder: Path) -> list[tuple[str, str]]:
    return [pair for text in graphs(folder) for pair in _POINTERS.findall(text)]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_every_file_may_be_cut_anywhere(
    dumped: tuple[Path, paddle_lab.Trace], tmp_path: Path, share: float
) -> None:
    for file in sorted(dumped[0].rglob("*.*")):
        if file.is_file():
            folder = tmp_path / file.name
            shutil.copytree(dumped[0], folder)
            cut = folder / file.relative_to(dumped[0])
            data = cut.read_bytes()
            cut.write_bytes(data[: int(len(data) * share)])
            trace = paddle_lab.load_dump(folder)
            assert trace.summary()
            assert trace.page_html()


def test_two_processes_are_two_regions(
    dumped: tuple[Path, paddle_lab.Trace], tmp_path: Path
) -> None:
    folder = tmp_path / "dump"
    shutil.copytree(dumped[0], folder)
    for file in sorted(folder.glob("*_stack.txt.*")):
        # The other process has the same names, but other pointers.
        moved = file.read_text().replace("ptr : 0x", "ptr : 0xf")
        file.with_suffix(".99").write_text(moved)
    for file in sorted(folder.glob("*_backward_graph.dot")):
        other = folder / file.name.replace("20", "30", 1)
        other.write_text(file.read_text().replace("Ptr: 0x", "Ptr: 0xf"))
    trace = paddle_lab.load_dump(folder)
    regions = [region.name for region in trace.regions]
    assert regions[0] == "process 99"
    assert sum(name.startswith("process ") for name in regions) == 2
    found = Counter(op.region for op in trace.ops if op.grad_nodes)
    assert found["process 99"] > 0
    assert len(found) == 2


def test_a_directory_without_dumps_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceFileError, match="nothing in"):
        paddle_lab.load_dump(tmp_path)
    (tmp_path / "x.txt").write_text("x")
    with pytest.raises(TraceFileError, match="nothing in"):
        paddle_lab.load_dump(tmp_path)
    with pytest.raises(FileNotFoundError):
        paddle_lab.load_dump(tmp_path / "no")
