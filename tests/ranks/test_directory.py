"""Directories of runs in any state: truncated, incomplete, from another machine; without Paddle."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import paddle_lab
from paddle_lab.capture.ranks.event_file import EventFile
from paddle_lab.launching.job import Job
from paddle_lab.runs.collectives import waited_for
from paddle_lab.runs.directory import END_FILE, RunDirectory
from paddle_lab.runs.rank_log import CALL_ROW, CALLS, ENDS, WAITS

SECOND_NS = 10**9
SITES = {"begin": 0, "end": ENDS, "wait": WAITS}


def rank_file(directory: Path, rank: int, *events: dict[str, object], world: int = 2) -> Path:
    first = {"kind": "rank", "rank": rank, "world": world, "process": 0, "host": "elsewhere"}
    rows, calls = [], []
    for at, event in enumerate([first, *events]):
        row = {"kind": event["kind"], "time_ns": at * SECOND_NS, **event}
        if row["kind"] == "begin":
            rows.append({"kind": "site", "time_ns": 0, "number": at, "site": row["site"]})
        elif row["kind"] == "end" and "error" in row:
            rows.append({"kind": "error", "time_ns": 0, "call": row["id"], "error": row["error"]})
        if row["kind"] in SITES:
            calls.append((row["time_ns"], row["id"], SITES[row["kind"]] or at))
        else:
            rows.append(row)
    path = directory / f"rank-{rank}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    path.with_suffix(CALLS).write_bytes(np.array(calls, CALL_ROW).tobytes())
    return path


def begin(line: int, number: int = 0, **values: object) -> dict[str, object]:
    called = {"op": "all_reduce", "group": 0, "ranks": [0, 1], "stack": [["a.py", line, "f"]]}
    return {"kind": "begin", "id": number, "site": {**called, **values}}


def end(number: int = 0) -> dict[str, object]:
    return {"kind": "end", "id": number}


LEAVE = {"kind": "exit", "code": 0, "error": "", "stack": []}


def test_a_file_that_is_cut_short_tells_what_is_there(tmp_path: Path) -> None:
    rank_file(tmp_path, 0, begin(1), end(), begin(2, 1), end(1), LEAVE)
    path = rank_file(tmp_path, 1, begin(1), end(), begin(2, 1), end(1), LEAVE)
    whole, calls = path.read_bytes(), path.with_suffix(CALLS).read_bytes()
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        assert len(paddle_lab.open_run(tmp_path).collectives) == 2
    path.write_bytes(whole)
    for size in range(len(calls)):
        path.with_suffix(CALLS).write_bytes(calls[:size])
        collectives = paddle_lab.open_run(tmp_path).collectives
        begun = [one for one in (0, 2) if size >= (one + 1) * CALL_ROW.itemsize]
        assert [1 in one.calls for one in collectives] == [at < len(begun) for at in range(2)]
    path.with_suffix(CALLS).write_bytes(calls)
    path.write_bytes(b"\xff{]\n" + whole)
    assert not paddle_lab.open_run(tmp_path).findings


def test_ranks_may_take_the_items_of_a_list_in_their_own_order(tmp_path: Path) -> None:
    for rank in range(2):
        names = [f"halves[{(turn + rank) % 2}]" for turn in range(2)]
        calls = [(begin(1, at, variable=name), end(at)) for at, name in enumerate(names)]
        rank_file(tmp_path, rank, *calls[0], *calls[1], LEAVE)
    assert not paddle_lab.open_run(tmp_path).findings


def test_a_missing_rank_and_an_empty_directory_get_a_sentence_each(tmp_path: Path) -> None:
    rank_file(tmp_path, 0, LEAVE)
    (finding,) = paddle_lab.open_run(tmp_path).findings
    assert (finding.kind, finding.ranks) == ("rank-missing", (1,))
    (tmp_path / "new").mkdir()
    with pytest.raises(FileNotFoundError, match="has no run"):
        paddle_lab.open_run(tmp_path / "new")


def test_a_second_run_in_a_directory_is_refused(tmp_path: Path) -> None:
    rank_file(tmp_path, 0, LEAVE)
    with pytest.raises(FileExistsError, match="has files"):
        Job(["a.py"], ranks=2, directory=tmp_path)
    with pytest.raises(ValueError, match="-n 0 is no number of ranks"):
        Job(["a.py"], ranks=0, directory=tmp_path / "new")


def test_branches_of_ranks_are_no_disagreement_but_opposite_orders_are(tmp_path: Path) -> None:
    rank_file(tmp_path, 0, begin(1), end(), begin(2, 1), end(1), LEAVE)
    rank_file(tmp_path, 1, begin(3), end(), begin(4, 1), end(1), LEAVE)
    assert not paddle_lab.open_run(tmp_path).findings
    rank_file(tmp_path, 1, begin(2), end(), begin(1, 1), end(1), LEAVE)
    (finding,) = paddle_lab.open_run(tmp_path).findings
    assert (finding.kind, finding.places) == (
        "collective-order",
        {0: ("a.py", 1), 1: ("a.py", 2)},
    )


def step(digest: int, ranks: list[int], lacks: bool = False) -> dict[str, object]:
    told = {"step": 1, "stack": [["a.py", 9, "f"]], "backward": [["a.py", 8, "f"]]}
    without = {"fc.w_0": ranks} if lacks else {}
    return {"kind": "step", **told, "without": without, "digests": {"fc.w_0": [digest, ranks]}}


def test_parameters_are_compared_among_the_ranks_that_reduce_them(tmp_path: Path) -> None:
    for rank, digest in enumerate([5, 6, 5, 6]):
        ranks = [rank % 2, rank % 2 + 2]
        rank_file(tmp_path, rank, step(digest, ranks, lacks=rank % 2 == 1), LEAVE, world=4)
    assert not paddle_lab.open_run(tmp_path).findings
    rank_file(tmp_path, 3, step(7, [1, 3], lacks=True), LEAVE, world=4)
    (finding,) = paddle_lab.open_run(tmp_path).findings
    assert (finding.kind, finding.places) == (
        "parameters-differ", {1: ("a.py", 9), 3: ("a.py", 9)}
    )  # fmt: skip
    rank_file(tmp_path, 3, step(6, [1, 3]), LEAVE, world=4)
    (finding,) = paddle_lab.open_run(tmp_path).findings
    assert (finding.kind, finding.places) == (
        "gradient-on-some-ranks", {1: ("a.py", 8), 3: ("a.py", 8)}
    )  # fmt: skip


def test_names_of_ranks_with_other_parameters_are_not_compared(tmp_path: Path) -> None:
    rank_file(tmp_path, 0, step(5, [0, 1]) | {"parameters": 1}, LEAVE)
    rank_file(tmp_path, 1, step(6, [0, 1], lacks=True) | {"parameters": 2}, LEAVE)
    assert not paddle_lab.open_run(tmp_path).findings
    rank_file(tmp_path, 1, step(6, [0, 1]) | {"parameters": 1}, LEAVE)
    (finding,) = paddle_lab.open_run(tmp_path).findings
    assert finding.kind == "parameters-differ"


def test_a_fault_of_our_own_is_told_once_and_stops_nothing(tmp_path: Path) -> None:
    events = EventFile(tmp_path / "rank-0.jsonl")
    assert events.attempt(int, "12") == 12
    assert [events.attempt(int, "x") for _ in range(2)] == [None, None]
    events.note("rank", rank=0, world=1, notices=[])
    events.close()
    run = paddle_lab.open_run(tmp_path)
    assert run._repr_mimebundle_()["text/html"].count("ValueError: invalid literal") == 1


def test_the_clocks_of_two_machines_are_aligned_at_barriers(tmp_path: Path) -> None:
    """Rank 1 comes 2 s before rank 0 to the second barrier; its clock is an hour ahead."""
    ahead_s = 3600
    for rank, moments in enumerate([[1, 4, 9, 11], [3, 4, 7, 11]]):
        calls = [begin(1), end(), begin(1, 1), end(1)]
        rows = [
            {**one, "time_ns": (moment + rank * ahead_s) * SECOND_NS}
            for one, moment in zip(calls, moments, strict=True)
        ]
        path = rank_file(tmp_path, rank, *rows, LEAVE)
        path.write_text(path.read_text().replace("elsewhere", f"machine-{rank}"))
    directory = RunDirectory(tmp_path)
    directory.read()
    for _ in range(2):
        collectives = directory.collectives
        first, second = collectives
        assert first.waited_ns == {0: 2 * SECOND_NS, 1: 0}
        assert second.waited_ns == {0: 0, 1: 2 * SECOND_NS}
    assert waited_for(collectives.channels) == {
        0: {1: 2 * SECOND_NS}, 1: {0: 2 * SECOND_NS},
    }  # fmt: skip


def test_a_killed_process_is_told_where_it_was_last_seen(tmp_path: Path) -> None:
    rank_file(tmp_path, 0, begin(1), end())
    rank_file(tmp_path, 1, begin(1), end(), LEAVE)
    (tmp_path / END_FILE).write_text('{"code": -9, "stopped": false}')
    (finding,) = paddle_lab.open_run(tmp_path).findings
    assert (finding.kind, finding.places[0]) == ("rank-died", ("a.py", 1))


def test_a_process_that_lost_the_connection_to_an_ended_rank_is_explained(tmp_path: Path) -> None:
    rank_file(tmp_path, 0, begin(1), end(), begin(2, 1))
    rank_file(tmp_path, 1, begin(1), end(), LEAVE)
    (tmp_path / END_FILE).write_text('{"code": -6, "stopped": false}')
    (hang,) = paddle_lab.open_run(tmp_path).findings
    assert (hang.kind, hang.ranks) == ("hang", (1,))
    assert "failed on rank 0; rank 1 never called it. Rank 1 has ended" in hang.message


def test_a_run_that_was_stopped_keeps_the_hang_that_was_told(tmp_path: Path) -> None:
    rank_file(tmp_path, 0, begin(1))
    rank_file(tmp_path, 1, seen("still", "lock", "self.lock"))
    directory = RunDirectory(tmp_path)
    directory.read()
    (told,) = directory.new_findings()
    directory.note_stop()
    directory.write_end(1)
    # The interrupt ended the wait for the lock, and gloo ended rank 1 when rank 0 was gone.
    leave = {**LEAVE, "code": 1, "error": "RuntimeError: gloo/transport/tcp/pair.cc: closed"}
    rank_file(tmp_path, 1, begin(1), leave)
    assert paddle_lab.open_run(tmp_path).findings == [told]
    for damaged in ("[]", '{"places": {"x": [1, 2]}}', '{"kind": "hang"}'):
        (tmp_path / END_FILE).write_text(f'{{"code": 1, "stopped": true, "hang": {damaged}}}')
        kinds = {one.kind for one in paddle_lab.open_run(tmp_path).findings}
        assert kinds == {"rank-raised"}


def test_the_page_says_all_and_runs_nothing(tmp_path: Path) -> None:
    rank_file(tmp_path, 0, begin(1, reduce_op="sum", layer="<b>net</b>"), end(), LEAVE)
    rank_file(tmp_path, 1, begin(1, reduce_op="<script>"), end(), LEAVE)
    run = paddle_lab.open_run(tmp_path)
    page = run.to_html(tmp_path / "run.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "a.py:1" in page
    assert run.findings[0].message in repr(run)
    assert run.collectives.rows()[1]["reduce_op"] == "<script>"


def seen(kind: str, state: str, detail: str = "") -> dict[str, object]:
    return {
        "kind": kind, "since_ns": 0, "stack": [["a.py", 5, "f"]], "state": state,
        "detail": detail, "workers": [[["data.py", 3, "read"]]] if state == "loader" else [],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (seen("still", "lock", "self.lock"), "Rank 1 is at a.py:5, .* lock, `self.lock`"),
        (seen("still", "loader"), "DataLoader; its workers are loading at data.py:3"),
        (seen("busy", "computes"), "Rank 1 runs on, in no collective; it was last seen at a.py:5"),
    ],
)
def test_a_hang_tells_what_the_absent_rank_does(
    tmp_path: Path, event: dict[str, object], told: str
) -> None:
    rank_file(tmp_path, 0, begin(1))
    rank_file(tmp_path, 1, event)
    (hang,) = paddle_lab.open_run(tmp_path).findings
    assert hang.places == {0: ("a.py", 1), 1: ("a.py", 5)}
    assert re.search(told, hang.message)


def test_a_hang_with_all_ranks_tells_why(tmp_path: Path) -> None:
    rank_file(tmp_path, 0, begin(1))
    rank_file(tmp_path, 1, begin(2, op="broadcast"))
    mismatch, hang = paddle_lab.open_run(tmp_path).findings
    assert mismatch.message in hang.message
    assert (mismatch.ranks, hang.ranks) == ((1,), (1,))
    names = ("rank", "world", "endpoints", "endpoint", "device", "gpu", "is_port_taken")
    told = dict.fromkeys([*names, "paddle", "python", "paddle_lab"], "") | {"backend": "gloo"}
    setup = {"kind": "setup", "setup": told}
    rank_file(tmp_path, 0, setup, begin(1, op="barrier"), end(), begin(2, 1, op="send", peer=1))
    rank_file(tmp_path, 1, setup, begin(1, op="recv", peer=0))
    hang = paddle_lab.open_run(tmp_path).findings[-1]
    assert "rank 0 has made 2, and rank 1 1" in hang.message
    # gloo gives up after a time, and the reason is still told
    gloo = "RuntimeError: gloo/transport/tcp/pair.cc: TIMEOUT"
    ends = [{"kind": "end", "id": 1, "error": gloo}, {**LEAVE, "code": 1, "error": gloo}]
    rank_file(
        tmp_path, 0, setup, begin(1, op="barrier"), end(), begin(2, 1, op="send", peer=1), *ends
    )
    hang = paddle_lab.open_run(tmp_path).findings[-1]
    assert "rank 0 has made 2, and rank 1 1" in hang.message


def test_a_rank_that_left_is_told_with_its_exit_status(tmp_path: Path) -> None:
    rank_file(tmp_path, 0, begin(1))
    rank_file(tmp_path, 1, {**LEAVE, "code": 3, "stack": [["a.py", 7, "f"]]})
    (hang,) = paddle_lab.open_run(tmp_path).findings
    assert "Rank 1 left the program at a.py:7 with exit status 3." in hang.message


def test_a_message_that_nobody_reads_is_told(tmp_path: Path) -> None:
    world = {"ranks": [0, 1, 2]}
    rank_file(tmp_path, 0, begin(2, **world, op="send", peer=2), end(), begin(9, 1))
    rank_file(tmp_path, 1, seen("still", "waits"))
    rank_file(tmp_path, 2, begin(3, **world, op="recv", peer=1))
    told = paddle_lab.open_run(tmp_path).findings[-1].message
    assert "Rank 0 sends to rank 2 at a.py:2, but rank 2 has not received that message." in told


def creation(line: int, members: list[int], number: int, at: int = 0) -> dict[str, object]:
    site = {"op": "new_group", "group": -2, "ranks": members, "number": number}
    return {"kind": "begin", "id": at, "site": {**site, "stack": [["a.py", line, "f"]]}}


def test_a_group_that_a_member_does_not_create_is_told(tmp_path: Path) -> None:
    rank_file(tmp_path, 0, creation(1, [0, 2], 1), world=3)
    rank_file(tmp_path, 1, begin(3, ranks=[0, 1, 2]))
    rank_file(tmp_path, 2, begin(3, ranks=[0, 1, 2]))
    (hang,) = paddle_lab.open_run(tmp_path).findings
    assert "in new_group([0, 2]), for rank 2. Rank 2 waits elsewhere" in hang.message
    assert "Call `new_group` on all ranks" in hang.advice


def test_a_group_that_its_ranks_number_differently_is_told_if_it_hangs(tmp_path: Path) -> None:
    rank_file(tmp_path, 0, creation(2, [0, 1], 2))
    rank_file(tmp_path, 1, creation(2, [0, 1], 1), seen("busy", "op"))
    path = tmp_path / END_FILE
    path.write_text(json.dumps({"code": 1, "stopped": False, "time_ns": 20 * SECOND_NS}))
    (hang,) = (one for one in paddle_lab.open_run(tmp_path).findings if one.kind == "hang")
    assert "Rank 1 made this group with call 1 of `new_group`, rank 0 with call 2." in hang.message
    rank_file(tmp_path, 0, creation(2, [0, 1], 2), end(), LEAVE)
    rank_file(tmp_path, 1, creation(2, [0, 1], 1), end(), LEAVE)
    assert not paddle_lab.open_run(tmp_path).findings


def test_groups_of_other_ranks_may_have_the_same_number(tmp_path: Path) -> None:
    for rank in range(4):
        members = [0, 1] if rank < 2 else [2, 3]
        call = begin(5, 1, group=10, ranks=members)
        rank_file(tmp_path, rank, creation(1, members, 1), end(), call, end(1), LEAVE, world=4)
    run = paddle_lab.open_run(tmp_path)
    assert not run.findings
    assert [one.ranks for one in run.collectives if one.group == 10] == [(0, 1), (2, 3)]


def test_ranks_in_the_same_state_share_a_sentence(tmp_path: Path) -> None:
    rank_file(tmp_path, 0, begin(1, ranks=[0, 1, 2, 3]), world=4)
    for rank in (1, 2, 3):
        rank_file(tmp_path, rank, seen("still", "lock", f"lock_{rank // 2}"))
    (hang,) = paddle_lab.open_run(tmp_path).findings
    assert "Rank 1 is at a.py:5, in no collective: it waits for a lock, `lock_0`." in hang.message
    assert "Ranks 2, 3 are at a.py:5, in no collective: each waits for a lock" in hang.message


def test_an_error_that_ended_a_thread_before_the_rank_is_told(tmp_path: Path) -> None:
    thread = {"kind": "thread", "name": "reads", "error": "OSError: x", "stack": [["d.py", 4, ""]]}
    leave = {**LEAVE, "code": 1, "error": "Empty: ", "stack": [["a.py", 7, "f"]]}
    rank_file(tmp_path, 0, thread, leave, world=1)
    (error,) = paddle_lab.open_run(tmp_path).findings
    assert "an error at d.py:4 had ended the thread reads: OSError: x." in error.message
    rank_file(tmp_path, 0, leave, thread, world=1)
    (error,) = paddle_lab.open_run(tmp_path).findings
    assert "thread" not in error.message


def test_ranks_that_wait_for_each_other_in_two_groups_are_a_circle(tmp_path: Path) -> None:
    for rank in (0, 1):
        call = begin(rank, group=1 + rank, ranks=[0, 1, 2 + rank])
        rank_file(tmp_path, rank, {**call, "time_ns": rank * SECOND_NS}, world=4)
    (hang,) = paddle_lab.open_run(tmp_path).findings
    assert "They wait in a circle: rank 0 for rank 1, rank 1 for rank 0." in hang.message


def test_an_error_of_gloo_is_told_if_nothing_explains_it(tmp_path: Path) -> None:
    gloo = "RuntimeError: gloo/transport/tcp/pair.cc: connection reset"
    for rank in range(2):
        leave = {**LEAVE, "code": 1, "error": gloo, "stack": [["a.py", 1, "f"]]}
        rank_file(tmp_path, rank, begin(1), {"kind": "end", "id": 0, "error": gloo}, leave)
    (raised,) = paddle_lab.open_run(tmp_path).findings
    assert (raised.kind, raised.ranks) == ("rank-raised", (0, 1))
    assert gloo in raised.message


def test_an_error_in_a_collective_is_the_first_unless_another_rank_ended(tmp_path: Path) -> None:
    failed = {"kind": "end", "id": 0, "error": "RuntimeError: x"}
    leave = {**LEAVE, "code": 1, "stack": [["a.py", 1, "f"]]}
    rank_file(tmp_path, 0, begin(1), failed, {**leave, "error": "RuntimeError: not ready"})
    rank_file(tmp_path, 1, begin(1), failed, {**leave, "error": "gloo/transport/tcp/pair.cc"})
    raised = [one for one in paddle_lab.open_run(tmp_path).findings if one.kind == "rank-raised"]
    assert [one.ranks for one in raised] == [(0,)]


def test_a_page_tells_no_rank_of_a_run_that_goes_on_as_absent(tmp_path: Path) -> None:
    rank_file(tmp_path, 0, begin(1))
    rank_file(tmp_path, 1)
    page = paddle_lab.open_run(tmp_path).newest_html()
    assert "not yet" in page
    assert "waits" in page
    assert "never came" not in page
    (tmp_path / END_FILE).write_text('{"code": 1, "stopped": false}')
    page = paddle_lab.open_run(tmp_path)._content()
    assert "never came" in page
    assert "did not return" in page
