"""Processes that die leave their last ops, with lines, and what is known of their end."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from shutil import copy

import pytest

from paddle_lab.capture.native import NATIVE
from paddle_lab.flights.crash import Crash, is_crash
from paddle_lab.flights.flight import Flight, read_flight
from paddle_lab.flights.folder import is_alive
from paddle_lab.launching import deaths as launching
from tests.flights import dying_process

pytestmark = pytest.mark.skipif(NATIVE is None, reason="only the native part keeps the record")
SIGNALS = {
    "segv": "SIGSEGV", "abrt": "SIGABRT", "thread": "SIGABRT", "term": "SIGTERM",
    "kill": "", "exit": "", "backward": "", "fork": "",
}  # fmt: skip


@pytest.fixture(scope="module")
def deaths(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, int]]:
    folder = tmp_path_factory.mktemp("flights")
    program = [sys.executable, "-m", dying_process.__name__, str(folder), *dying_process.WAYS]
    subprocess.run(program, check=True, timeout=300)
    return folder, {way.stem: int(way.read_text()) for way in folder.glob("*.status")}


def read(deaths: tuple[Path, dict[str, int]], way: str) -> Flight:
    flight = read_flight(deaths[0], way)
    assert flight is not None
    return flight


@pytest.mark.parametrize("way", SIGNALS)
def test_the_last_ops_have_their_lines(deaths: tuple[Path, dict[str, int]], way: str) -> None:
    flight = read(deaths, way)
    loop = [op for op in flight.ops if op.name == "add"][-10_000:]
    assert len(loop) == 10_000
    assert {(op.file, op.line, op.layer) for op in loop} == {("program.py", 4, "")}
    assert all(op.duration_ns is not None for op in loop)
    linear = next(op for op in flight.ops if op.name == "linear")
    assert (linear.line, linear.layer) == (5, "Linear")
    times = [op.time_ns for op in flight.ops]
    assert times == sorted(times)
    assert flight.title == "the cell"
    assert flight.is_running
    assert not is_alive(flight)
    assert flight.memory["resident_bytes"] > 1e7


@pytest.mark.parametrize("way", SIGNALS)
def test_the_signal_is_the_one_that_the_process_died_of(
    deaths: tuple[Path, dict[str, int]], way: str
) -> None:
    crash, code = Crash(read(deaths, way)), deaths[1][way]
    assert crash.signal == SIGNALS[way]
    if crash.signal:
        assert signal.Signals(-code).name == crash.signal
        assert crash.signal in str(crash)
    else:
        assert code in {3, -9}
        assert "SIGKILL" in str(crash)
        assert "os._exit()" in str(crash)


def test_a_signal_outside_of_ops_has_its_line(deaths: tuple[Path, dict[str, int]]) -> None:
    flight = read(deaths, "segv")
    assert not flight.in_flight
    lines = [(line.line, line.function) for line in flight.signal_stack]
    assert (13, "<module>") in lines
    assert (10, "read") in lines
    # As gloo aborts: in a thread that is not Python's.
    assert read(deaths, "thread").last_place == ("program.py", 8)


def test_a_running_backward_call_is_in_flight(deaths: tuple[Path, dict[str, int]]) -> None:
    (running,) = read(deaths, "backward").in_flight
    assert (running.name, running.line) == ("Tensor.backward", 8)
    assert running.duration_ns is None
    assert str(running) in str(Crash(read(deaths, "backward")))


def test_a_forked_process_writes_nothing(deaths: tuple[Path, dict[str, int]]) -> None:
    flight = read(deaths, "fork")
    assert [op.name for op in flight.ops[-2:]] == ["linear", "subtract"]
    assert not flight.stacks


def test_a_nested_trace_is_told_to_record_nothing_here(
    deaths: tuple[Path, dict[str, int]],
) -> None:
    flight = read(deaths, "nested")
    assert flight.ops[-1].name == "linear"
    assert "A trace inside this one was open" in str(Crash(flight))
    assert "No op was running" not in str(Crash(flight))
    assert "No op was running" in str(Crash(read(deaths, "exit")))


def test_a_normal_end_leaves_no_file(deaths: tuple[Path, dict[str, int]]) -> None:
    assert deaths[1]["end"] == 0
    assert [path.name for path in deaths[0].glob("end*")] == ["end.status"]


def test_a_damaged_record_is_no_record(deaths: tuple[Path, dict[str, int]], tmp_path: Path) -> None:
    folder, _ = deaths
    ring, notes = (folder / "kill.ring").read_bytes(), (folder / "kill.notes").read_bytes()
    (tmp_path / "short.ring").write_bytes(ring[:1000])
    (tmp_path / "short.notes").write_bytes(notes)
    assert read_flight(tmp_path, "short") is None
    (tmp_path / "cut.ring").write_bytes(ring)
    (tmp_path / "cut.notes").write_bytes(notes[:-40])  # the last line is half written
    cut = read_flight(tmp_path, "cut")
    assert cut is not None
    assert len(cut.ops) > 10_000
    (tmp_path / "empty.ring").write_bytes(ring)
    (tmp_path / "empty.notes").write_bytes(b"")
    assert read_flight(tmp_path, "empty") is None


def test_a_run_tells_how_its_ranks_died(
    deaths: tuple[Path, dict[str, int]], tmp_path: Path
) -> None:
    for rank, way in enumerate(("kill", "segv", "term")):
        for ending in (".ring", ".notes"):
            copy(deaths[0] / f"{way}{ending}", tmp_path / f"rank-{rank}{ending}")
    (tmp_path / "launcher.log").write_text(
        "Container rank 0 status failed cmd ['python', 'train.py'] code -9 log workerlog.0\n"
    )
    killed, failed = map(str, launching.deaths(tmp_path))  # the launcher itself ended rank 2
    assert killed.startswith("Rank 0 died with exit status -9 (SIGKILL).")
    assert failed.startswith("Rank 1 died of SIGSEGV.")
    assert "program.py, line 10, in read" in failed


def test_a_death_between_traces_is_reported_only_after_a_fatal_signal() -> None:
    assert not is_crash(Flight([], was_asked=True))
    assert not is_crash(Flight([]))
    assert not is_crash(Flight([], stacks="Current thread 0x1 (most recent call first):"))
    assert is_crash(Flight([], stacks="Fatal Python error: Segmentation fault"))
    assert is_crash(Flight([], is_running=True))
