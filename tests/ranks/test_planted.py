"""Programs in four ranks, with and without a planted bug: the findings of their runs.

``# AT 0 2`` marks the line at which ranks 0 and 2 are; ``ODD`` marks the line of the finding.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from paddle_lab.opened_run import Run
from paddle_lab.runs.directory import RunDirectory

HERE = Path(__file__).parent
RANKS = 4
KINDS = {
    "reduce_op": "collective-mismatch",
    "root": "collective-mismatch",
    "dtype": "collective-mismatch",
    "order": "collective-order",
    "order_of_gradients": "collective-order",
    "order_of_keys": "collective-order",
    "frozen": "gradient-on-some-ranks",
    "learning_rate": "parameters-differ",
    "one_sided_branch": "gradient-on-some-ranks",
    "skipped_gradient": "gradient-on-some-ranks",
    "parameters": "parameters-differ",
    "dropout_seed": "dropout-differs",
}
RATES = "the learning rate was 0.01 on rank 3 and 0.1 on ranks 0–2."
SAID = {
    "lock": "it waits for a lock, ",
    "thread_error": "it waits in Python's Queue.get. On rank 1, an error at thread_error.py:14 had "
    "ended the thread Thread-1 (read): ZeroDivisionError",
    "wrong_peer": "Rank 0 sends to rank 1 at wrong_peer.py:8, but rank 1 has not received that",
    "group_of_one_rank": "in new_group([0, 2]), for rank 2. Rank 2 waits elsewhere: in barrier",
    "terminated": "The process of rank 2 died of SIGTERM.",
    "one_sided_branch": "Rank 1 got no gradient for linear_2.w_0 in this call (nor for 1 more",
}
MARK = re.compile(r"# AT ([\d ]+)( ODD)?$")


def programs(folder: str) -> list[Path]:
    return sorted((HERE / folder).glob("*.py"))


@contextmanager
def started(paths: Sequence[Path], directory: Path) -> Iterator[None]:
    command = [sys.executable, "-W", "ignore", str(HERE / "forked_ranks.py"), str(RANKS)]
    plain = [f"plain:{path}" for path in paths if path.parent.name == "healthy"]
    process = subprocess.Popen(
        [*command, str(directory), *map(str, paths), *plain],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield
    finally:
        process.communicate()
        with suppress(ProcessLookupError):  # workers of a rank that died before the others
            os.killpg(process.pid, signal.SIGKILL)


def watched(paths: Sequence[Path], directory: Path) -> dict[str, Run]:
    """Return the run of each program, at its end or at the moment when it is known to hang.

    On a busy machine, a slow start of the ranks may count as a hang before the planted one comes.
    Sometimes Paddle's store or gloo refuses a rank at its start. Then the program runs again.
    """
    runs, found = {path.stem: RunDirectory(directory / path.stem) for path in paths}, {}
    deadline = time.monotonic() + 240
    programs_by_name = {path.stem: path for path in paths}
    with started(paths, directory):
        while len(found) < len(runs) and time.monotonic() < deadline:
            time.sleep(0.2)
            for name, run in runs.items():
                if name in found:
                    continue
                run.read()
                values = [value for value in run.path.glob("values.*") if is_written(value)]
                exits = [log for log in run.logs if log.exit is not None]
                has_ended = len(values) == len(exits) == RANKS
                program = programs_by_name[name]
                told = [(finding.places, finding.line) for finding in run.findings()]
                is_told = program.parent.name == "hangs" and expected(program) in told
                if has_ended or is_told or is_refused(run.path):
                    found[name] = Run(run)
        values = [
            directory / f"{name}.plain" / f"values.{rank}"
            for name in found
            for rank in range(RANKS)
        ]
        values = [value for value in values if value.parent.exists()]
        while time.monotonic() < deadline and not all(
            is_written(value) or is_refused(value.parent) for value in values
        ):
            time.sleep(0.2)
    found |= {name: Run(run) for name, run in runs.items() if name not in found}
    again = [
        path
        for path in paths
        if any(map(is_refused, (directory / path.stem, directory / f"{path.stem}.plain")))
    ]
    if again and directory.name != "again":
        (directory / "again").mkdir()
        found |= watched(again, directory / "again")
    return found


def is_refused(directory: Path) -> bool:
    """Tell whether Paddle's store refused a rank at its start, or gloo failed by itself.

    Sometimes gloo cannot connect, or a program that should end waits in it for ever, untraced ones
    included.
    """
    outputs = [one.read_text(errors="replace") for one in directory.glob("output.*")]
    waits = {path.stem for path in (*programs("hangs"), *programs("checked"))}
    should_end = directory.name.removesuffix(".plain") not in waits
    return any(
        "Stop_waiting response" in one
        or ("in init_parallel_env" in one and "pair.cc" in one)
        or (should_end and "gloo::TimeoutException" in one)
        for one in outputs
    )


def is_written(path: Path) -> bool:
    return path.exists() and bool(path.read_text())


@pytest.fixture(scope="module")
def hangs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    paths = [*programs("hangs"), *programs("checked")]
    return watched(paths, tmp_path_factory.mktemp("hangs"))


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    paths = [*programs("desyncs"), *programs("healthy")]
    return watched(paths, tmp_path_factory.mktemp("ended"))


def expected(path: Path) -> tuple[dict[int, tuple[str, int]], int]:
    """Return each rank's place, and the finding's line."""
    places, odd_line = {}, 0
    for line, text in enumerate(path.read_text().splitlines(), start=1):
        if mark := MARK.search(text):
            places |= {int(rank): (str(path), line) for rank in mark[1].split()}
            odd_line = line if mark[2] else odd_line
    return dict(sorted(places.items())), odd_line


@pytest.mark.parametrize("path", programs("hangs"), ids=lambda path: path.stem)
def test_a_hang_is_told_with_the_line_of_each_rank(path: Path, hangs: dict[str, Run]) -> None:
    places, line = expected(path)
    told = [(one.places, one.line, one.message) for one in hangs[path.stem].findings]
    said = SAID.get(path.stem, "")
    assert any((places, line) == one[:2] and said in one[2] for one in told), told


def test_a_checked_call_raises_at_its_line_on_each_rank_and_does_not_hang(
    hangs: dict[str, Run],
) -> None:
    (path,) = programs("checked")
    run = hangs[path.stem]
    errors = [log.exit["error"] for log in run._directory.logs]
    assert len(errors) == RANKS
    assert all(error.startswith("RanksDisagreeError") for error in errors)
    assert (run.findings[0].places, run.findings[0].line) == expected(path)
    places, _ = expected(path)
    assert {log.rank: log.place for log in run._directory.logs} == places


@pytest.mark.parametrize("path", programs("desyncs"), ids=lambda path: path.stem)
def test_a_silent_disagreement_is_told_first(path: Path, ended: dict[str, Run]) -> None:
    run = ended[path.stem]
    assert all(log.exit["code"] == 0 for log in run._directory.logs)
    first = run.findings[0]
    assert first.kind == KINDS[path.stem]
    assert (first.places, first.line) == expected(path)
    assert path.stem != "learning_rate" or RATES in first.message


def test_healthy_jobs_have_no_findings_and_compute_the_same_as_untraced(
    ended: dict[str, Run],
) -> None:
    for path in programs("healthy"):
        run = ended[path.stem]
        assert not run.findings
        for rank in range(RANKS):
            traced = (run.path / f"values.{rank}").read_text()
            plain = run.path.with_name(f"{path.stem}.plain") / f"values.{rank}"
            assert traced == plain.read_text()
            assert len(traced) > 2 or path.stem == "objects"


def test_a_run_has_the_trace_of_each_rank_and_its_collectives(ended: dict[str, Run]) -> None:
    run = ended["sub_groups"]
    assert list(run.ranks) == [0, 1, 2, 3]
    calls = [call for one in run.collectives for call in one.calls.values()]
    # A trace has no ops for the methods of process groups, so the program counts them.
    reduced = [call for call in calls if call.op == "all_reduce"]
    assert len(reduced) == 3 * 3 + RANKS * 3
    assert {call.reduce_op for call in reduced} == {"sum", "max"}
    assert {one.ranks for one in run.collectives if one.group > 0} == {(0, 1, 2)}
    assert [call.root for call in calls if call.op == "broadcast" and len(call.ranks) == RANKS] == [
        source for source in range(4) for _ in range(RANKS)
    ]
    assert "backward" in {one.op for one in ended["data_parallel"].collectives}
