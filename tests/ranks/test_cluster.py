"""``%%paddle_ranks --cluster``: a real cluster on this machine."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

import ipyparallel
import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from paddle_lab.launching.cluster import endpoint_for
from paddle_lab.magics.ranks_magic import RanksMagic

CELL = """\
import paddle, paddle.distributed as dist
dist.init_parallel_env()
seen = paddle.full([2], dist.get_rank() + 1.0)
dist.all_reduce(seen)
print("sum", float(seen[0]))
"""
NEXT = "dist.all_reduce(seen, op=2 * dist.get_rank())"  # the engines still have the variables


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "paddle_lab")
    yield shell
    shell.run_line_magic("unload_ext", "paddle_lab")
    InteractiveShell.clear_instance()


def test_the_engines_are_the_ranks_and_keep_their_variables(shell: InteractiveShell) -> None:
    with ipyparallel.Cluster(n=2, log_level=40) as client, capture_output() as shown:
        shell.user_ns["rc"] = client
        shell.run_cell(f"%%paddle_ranks --cluster rc\n{CELL}").raise_error()
        first = shell.user_ns["_run"]
        shell.run_cell(f"%%paddle_ranks --cluster rc\n{NEXT}").raise_error()
        second = shell.user_ns["_run"]
    assert {"[0] sum 3.0", "[1] sum 3.0"} <= set(shown.stdout.splitlines())
    assert not first.findings
    assert [one.op for one in first.collectives] == ["init_parallel_env", "all_reduce"]
    (finding,) = second.findings
    assert (finding.kind, finding.line) == ("collective-mismatch", 2)
    assert set(second.ranks) == {0, 1}


def test_without_ipyparallel_or_a_cluster_one_sentence_says_so(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ipyparallel", None)
    with pytest.raises(UsageError, match="needs the package ipyparallel"):
        shell.run_cell_magic("paddle_ranks", "--cluster rc", CELL)


def test_the_choice_of_a_port_leaves_the_users_random_numbers(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.touch()
    before = random.getstate()
    assert endpoint_for(str(script))
    assert random.getstate() == before


def test_jupyter_distributed_would_start_ranks_in_each_rank(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("JUPYTER_DISTRIBUTED_WORLD_SIZE", "2")
    with pytest.raises(UsageError, match="in each of its processes already"):
        RanksMagic(None).run("-n 2", "pass")
