"""``paddle-lab run``: real scripts with Paddle's own launcher."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

import paddle_lab
from paddle_lab.flights.folder import process_runs
from paddle_lab.launching.job import Job

SCRIPT = """\
import sys, time
import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
x = paddle.ones([2])
dist.all_reduce(x)
print("sum", float(x[0]), sys.argv[1])
if sys.argv[1] == "hang" and rank == 1:
    time.sleep(600)
dist.barrier()
"""


RECORD_ONLY = """\
import os, signal
import paddle
import paddle_lab
from paddle_lab.capture.recorder.recorder import SINKS

x = paddle.ones([2, 2])
with paddle_lab.trace() as inner:
    paddle.nn.Linear(2, 2)(x)
print("inside:", [op.layer for op in inner.ops if op.name == "linear"])
paddle_lab.step()
x.stop_gradient = False
paddle.jit.to_static(paddle.nn.Linear(2, 2))(x)
paddle.tanh(x).sum().backward()
print("recorded:", SINKS.active[0].next_op.next)
paddle.sin(x)  # the last op
os.kill(os.getpid(), signal.SIGKILL)
"""


ORPHAN = """\
import os, time

child = os.fork()
if not child:
    time.sleep(600)
with open(os.environ["PADDLE_LAB_RUN"] + "/child", "w") as file:
    file.write(str(child))
os._exit(3)
"""


def command(tmp_path: Path, how: str) -> subprocess.Popen[str]:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    return subprocess.Popen(
        [sys.executable, "-m", "paddle_lab.launching.command_line", "run", "-n", "2",
         "--out", str(tmp_path / "out"), str(script), how],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_a_script_runs_in_ranks_and_leaves_a_run(tmp_path: Path) -> None:
    printed, _ = (process := command(tmp_path, "end")).communicate()
    assert process.returncode == 0
    assert {"[0] sum 2.0 end", "[1] sum 2.0 end"} <= set(printed.splitlines())
    run = paddle_lab.open_run(tmp_path / "out")
    assert not run.findings
    assert [one.op for one in run.collectives] == ["init_parallel_env", "all_reduce", "barrier"]
    assert {call.place for call in run.collectives[1].calls.values()} == {
        (str(tmp_path / "train.py"), 8)
    }
    assert set(run.ranks) == {0, 1}
    assert "full" in {op.name for op in run.ranks[1].ops}


def test_a_rank_ends_when_its_launcher_is_killed(tmp_path: Path) -> None:
    launcher = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    program = (
        "import sys, time; from pathlib import Path\n"
        "from paddle_lab.capture.ranks.event_file import EventFile\n"
        "from paddle_lab.capture.ranks.watchdog import Watchdog\n"
        "Watchdog(EventFile(Path(sys.argv[1])), lambda: 0, int(sys.argv[2]))\n"
        "print(1, flush=True); time.sleep(600)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "events"), str(launcher.pid)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as rank:
        assert rank.stdout is not None
        rank.stdout.readline()
        launcher.kill()  # and nobody has waited for it
        assert rank.wait(timeout=30) == 1
    launcher.wait()


@pytest.mark.usefixtures("interrupts_raise")
def test_a_process_that_outlives_its_rank_is_ended_with_the_run(tmp_path: Path) -> None:
    script = tmp_path / "orphan.py"
    script.write_text(ORPHAN)
    Job([str(script)], ranks=1, directory=tmp_path / "out", write=lambda _: None).run()
    child = int((tmp_path / "out" / "child").read_text())
    assert not process_runs(child)


@pytest.mark.usefixtures("interrupts_raise")
def test_a_hang_is_told_while_it_hangs_and_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    process = command(tmp_path, "hang")
    assert process.stdout is not None
    family: list[psutil.Process] = []
    for line in process.stdout:
        if " hang: " in line:
            assert process.poll() is None
            # The start of a child may seem to be before its parent's while the clock is set.
            while len(family) < 3:
                family = psutil.Process(process.pid).children(recursive=True)
            break
    told = [next(process.stdout), next(process.stdout)]
    assert told == ["  rank 0: train.py:12\n", "  rank 1: train.py:11\n"]
    os.kill(process.pid, signal.SIGINT)
    process.communicate()
    assert process.returncode == 130
    assert not psutil.wait_procs(family, timeout=5)[1]
    (hang,) = paddle_lab.open_run(tmp_path / "out").findings
    assert hang.places[1] == (str(tmp_path / "train.py"), 11)


def test_a_rank_that_keeps_the_record_only_tells_its_last_ops_and_lets_others_trace(
    tmp_path: Path,
) -> None:
    script = tmp_path / "train.py"
    script.write_text(RECORD_ONLY)
    done = subprocess.run(
        [sys.executable, "-m", "paddle_lab.launching.command_line", "run", "-n", "1",
         "--record-only", "--out", str(tmp_path / "out"), str(script)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert "[0] inside: ['paddle.nn.Linear']" in done.stdout
    assert "[0] recorded: 0" in done.stdout
    told = re.findall(r"^  (\S+) .*train\.py, line (\d+)", done.stdout, re.MULTILINE)
    last = [("run_program", "12"), ("tanh", "13"), ("sum", "13"), ("backward", "13"), ("sin", "15")]
    assert told[-5:] == last
    assert "SIGKILL" in done.stdout
    assert not list((tmp_path / "out").glob("*.pltrace"))
