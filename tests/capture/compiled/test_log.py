"""The recorded entries of Paddle's log, compared with the log that Paddle itself writes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import paddle
import paddle.nn.functional as F
import pytest

import paddle_lab
from paddle_lab.capture.log import capture
from paddle_lab.capture.log.glog import glog

_BEGINS = re.compile(r"=Running_AD_API: (\w+)=")
_ENDS = re.compile(r"=Finish_AD_API: (\w+)=")
_NODE = re.compile(r"(\S+)\(0x(\w+)\) Preparing")
_CALLED_AS = {"matmul": {"matmul", "linear"}, "add": {"add", "linear"}, "scale": {"multiply"}}


@pytest.fixture(scope="module")
def step() -> Callable[[], paddle.Tensor]:
    net, x = paddle.nn.Linear(8, 8), paddle.ones([2, 8])

    def run() -> paddle.Tensor:
        y = x
        for _ in range(4):
            y = F.relu(net(y)) * 2 + x
        y.sum().backward()
        return y

    return run


def level() -> int:
    return glog()._level.value


@pytest.mark.parametrize("asked", [3, 4])
def test_each_entry_is_under_the_op_or_grad_node_that_the_log_names(
    step: Callable[[], paddle.Tensor], asked: int
) -> None:
    with paddle_lab.trace(log=asked) as trace:
        step()
    assert level() == 0
    assert not trace.record.origin.notices
    running, node, checked = "", "", 0
    for entry in trace.log:
        if begins := _BEGINS.search(entry.text):
            running = begins[1]
        if found := _NODE.match(entry.text):
            node = found[1]
            assert entry.grad_node is not None
            assert trace.record.grad_nodes["address"][entry.grad_node] == int(found[2], 16)
        if "Finish Backward" in entry.text:
            node = ""
        if running:
            assert entry.grad_node is None
            assert entry.name in _CALLED_AS.get(running, {running}), entry
        elif node:
            assert entry.name == node, entry
        checked += bool(running or node)
        if _ENDS.search(entry.text):
            running = ""
    # The other entries say that the backward call begins and ends.
    assert checked > 0.9 * len(trace.log)
    ops = {entry.op.key for entry in trace.log if entry.op}
    assert ops == {op.key for op in trace.ops}


@pytest.mark.parametrize("asked", ["3", "4"])
def test_it_has_as_many_entries_as_paddle_writes(asked: str) -> None:
    script = Path(__file__).with_name("log_in_a_new_process.py")
    root = Path(__file__).parents[3]
    counts = {}
    for mode in ("plain", "traced"):
        command = [sys.executable, str(script), asked, mode]
        run = subprocess.run(command, capture_output=True, cwd=root, check=True)
        counts[mode] = json.loads(run.stdout)
        assert b"dygraph_functions" not in run.stderr
    assert counts["traced"] == counts["plain"]
    assert sum(counts["plain"][0].values()) > 3000


def test_a_process_that_dies_leaves_no_log(tmp_path: Path) -> None:
    code = (
        "import os, paddle, paddle_lab\n"
        "with paddle_lab.trace(log=3):\n"
        "    paddle.ones([2]).exp()\n"
        "    os._exit(0)"
    )
    command, here = [sys.executable, "-c", code], os.environ | {"TMPDIR": str(tmp_path)}
    subprocess.run(command, env=here, cwd=Path(__file__).parents[2], check=True)
    assert not any("vlog" in one.name for one in tmp_path.rglob("*"))


def test_other_output_reaches_the_user(
    step: Callable[[], paddle.Tensor], capfd: pytest.CaptureFixture[str]
) -> None:
    with paddle_lab.trace(log=4):
        os.write(2, b"before\n")
        step()
        subprocess.run([sys.executable, "-c", "import os; os.write(2, b'inside\\n')"], check=True)
        sys.stderr.write("after\n")
    assert capfd.readouterr().err == "before\ninside\nafter\n"


def test_a_compiled_programs_log_is_its_ops(capfd: pytest.CaptureFixture[str]) -> None:
    net = paddle.nn.Sequential(paddle.nn.Linear(8, 8), paddle.nn.ReLU(), paddle.nn.Linear(8, 8))
    compiled = paddle.jit.to_static(net, full_graph=True)
    with paddle_lab.trace(log=4) as trace:
        compiled(paddle.ones([2, 8])).mean().backward()
        os.write(1, b"written\n")
        subprocess.run(["echo", "inside"], check=True)
    # Paddle prints the program to standard output from level 2 on, with a log or without.
    assert capfd.readouterr().out.endswith("written\ninside\n")
    owners = {entry.name for entry in trace.log if entry.source_file == "pir_interpreter.cc"}
    # On a busy machine, a thread of the executor may still write when the program is over.
    assert owners - {""} == {"run_program", "Dy2StGradNode"}
    own = [entry for entry in trace.log if entry.thread >= 0]
    named = [entry for entry in own if entry.name or entry.source_file == "backward.cc"]
    assert len(named) > 0.99 * len(own)
    assert any(entry.thread < 0 and entry.name for entry in trace.log)


def test_a_region_logs_its_ops_and_its_backward_alone() -> None:
    encoder = paddle.nn.TransformerEncoderLayer(8, 2, 16)
    x = paddle.ones([1, 3, 8])
    for asked in (3, 5):
        with paddle_lab.trace() as trace:
            before = encoder(x)
            with paddle_lab.region("part", log=asked):
                inside = encoder(before)
                assert level() == asked
            assert level() == 0
            inside.mean().backward()
        assert {entry.op.region for entry in trace.log if entry.op} == {"part"}
        assert {entry.level for entry in trace.log} == {asked}
        nodes = [entry.grad_node for entry in trace.log if entry.grad_node is not None]
        ops = {trace.record.grad_nodes["op"][node] for node in nodes}
        assert ops == {op.key for op in trace.ops if op.region == "part" and op.grad_nodes}
        # Every node begins once. Without an address, the order tells which of several nodes it is.
        names = [
            match[1]
            for entry in trace.log
            if (match := re.match(r"=+Running_AD_API_GRAD: (\w+)_grad", entry.text))
        ]
        assert len(names) == len(set(nodes))
        for entry in trace.log:
            if match := re.match(r"=+Running_AD_API_GRAD: (\w+)_grad", entry.text):
                assert entry.name.lower() == match[1].replace("_", "") + "gradnode"
            if match := re.match(r"(\S+)\(0x(\w+)\) begin run", entry.text):
                assert trace.record.grad_nodes["address"][entry.grad_node] == int(match[2], 16)


def test_the_order_of_a_region_is_the_one_that_addresses_tell() -> None:
    encoder = paddle.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
    x = paddle.ones([1, 3, 8])

    def nodes(asked: int) -> list[int]:
        with paddle_lab.trace() as trace:
            with paddle_lab.region("part", log=asked):
                loss = encoder(x).mean()
            loss.backward()
        rows = [one.grad_node for one in trace.log if "=Running_AD_API_GRAD" in one.text]
        return [int(trace.record.grad_nodes["op"][row]) for row in rows]

    assert nodes(3) == nodes(5)


def test_the_level_comes_back_after_errors_interrupts_and_nested_traces() -> None:
    paddle.base.core.set_vlog_level(1)
    try:
        for error in (ValueError, KeyboardInterrupt):
            with (
                pytest.raises(error),
                paddle_lab.trace(log=4),
                paddle_lab.region("part", log=6),
            ):
                raise error
            assert level() == 1
        with paddle_lab.trace(log=3) as outer:
            assert level() == 3
            with paddle_lab.trace(log=5) as inner:
                assert level() == 5
                paddle.ones([2]).exp()
            assert level() == 3
            paddle.ones([2]).tanh()
        assert level() == 1
        assert {entry.level for entry in inner.log} == {5}
        assert {entry.level for entry in outer.log if entry.name == "tanh"} == {3}
        assert {entry.name for entry in inner.log if entry.op} == {"full", "exp"}
        assert {entry.name for entry in outer.log if entry.op} == {"full", "exp", "tanh"}
    finally:
        paddle.base.core.set_vlog_level(0)


def test_a_level_that_the_user_sets_stays() -> None:
    with paddle_lab.trace(log=3):
        paddle.base.core.set_vlog_level(2)
    assert level() == 2
    glog()._level.value = 0
    with paddle_lab.trace(log=3), paddle.base.framework.vlog_guard(5):
        pass
    assert level() == 0


def test_threads_have_their_own_entries() -> None:
    x = paddle.ones([2])

    def work(name: str) -> None:
        for _ in range(20):
            getattr(x, name)()

    with paddle_lab.trace(log=3) as trace:
        threads = [threading.Thread(target=work, args=(name,)) for name in ("exp", "tanh")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for entry in trace.log:
        if (named := _BEGINS.search(entry.text) or _ENDS.search(entry.text)) is not None:
            assert entry.name == named[1]
            assert entry.op is not None
            assert entry.op.thread == entry.thread


def test_the_size_has_a_limit(
    step: Callable[[], paddle.Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture, "LARGEST_BYTES", 1 << 20)
    monkeypatch.setattr(capture, "_SETTLE_OPS", 20)
    with paddle_lab.trace(log=6) as trace:
        for _ in range(100):
            step()
        assert level() == 0
    assert 100 < len(trace.log) < 50_000
    (notice,) = trace.record.origin.notices
    assert notice.startswith("Paddle's log is recorded for its first 1 MB only.")


def test_results_are_the_same_bit_for_bit(step: Callable[[], paddle.Tensor]) -> None:
    expected = step().numpy()
    with paddle_lab.trace(log=6):
        found = step().numpy()
    assert np.array_equal(expected, found)


def test_without_glogs_names_there_is_a_notice_and_no_log(
    step: Callable[[], paddle.Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise ValueError("undefined symbol: FLAGS_v")

    monkeypatch.setattr(capture, "glog", fail)
    for asked in (3, None):
        with paddle_lab.trace(log=asked) as trace, paddle_lab.region("part", log=3):
            step()
        assert len(trace.ops) > 0
        assert len(trace.log) == 0
        (notice,) = trace.record.origin.notices
        assert "undefined symbol" in notice


def test_a_log_that_goes_to_the_users_files_stays_there(
    step: Callable[[], paddle.Tensor],
) -> None:
    is_to_stderr = glog()._is_to_stderr
    is_to_stderr.value = False
    try:
        with paddle_lab.trace(log=3) as trace:
            step()
        assert not is_to_stderr.value
    finally:
        is_to_stderr.value = True
    assert len(trace.ops) > 0
    assert len(trace.log) == level() == 0
    (notice,) = trace.record.origin.notices
    assert "GLOG_logtostderr" in notice


@pytest.mark.parametrize("wrong", [0, 11, "3", True, 2.5])
def test_a_wrong_level_is_refused(wrong: object) -> None:
    with pytest.raises((TypeError, ValueError), match="from 1 to 10"):
        paddle_lab.trace(log=wrong)
    with pytest.raises((TypeError, ValueError), match="from 1 to 10"):
        paddle_lab.region("part", log=wrong)
