"""Checks that a user switches off: for a cell, for a notebook, for a project."""

from __future__ import annotations

import sys

import pytest
from IPython.core.error import UsageError

import paddle_lab
from paddle_lab.analysis.findings.registry import chosen
from paddle_lab.analysis.findings.switches import OFF

CUT = "loss = net(x).detach().mean() + net.bias.sum()\nloss.backward()"


@pytest.fixture(autouse=True)
def nothing_stays_off():
    yield
    OFF.clear()


def kinds(shell, cell: str) -> set[str]:
    shell.run_cell(cell, store_history=True).raise_error()
    return {finding.kind for finding in shell.user_ns["seen"].findings}


def test_a_cell_leaves_a_check_out(shell):
    assert "gradient-cut" in kinds(shell, f"%%paddle_trace -q -o seen\n{CUT}")
    options = "-q -o seen --check default,-gradient-cut"
    assert "gradient-cut" not in kinds(shell, f"%%paddle_trace {options}\n{CUT}")


def test_a_notebook_switches_a_check_off_and_on(shell, capsys):
    shell.run_line_magic("paddle_lab", "checks -x gradient-cut same-batch")
    assert "gradient-cut" in capsys.readouterr().out
    assert "gradient-cut" not in kinds(shell, f"%%paddle_trace -q -o seen\n{CUT}")
    assert "gradient-cut" not in chosen("all")
    assert chosen("gradient-cut") == ["gradient-cut"]
    shell.run_line_magic("paddle_lab", "checks -o gradient-cut same-batch")
    assert "gradient-cut" in kinds(shell, f"%%paddle_trace -q -o seen\n{CUT}")
    assert len(shell.run_line_magic("paddle_lab", "checks")) == len(paddle_lab.checks())
    with pytest.raises(UsageError, match="gradient-cut"):
        shell.run_line_magic("paddle_lab", "checks -x gradient-cuts")
    with pytest.raises(UsageError, match="paddle_lab"):
        shell.run_line_magic("paddle_lab", "check")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 has no reader of TOML")
def test_a_project_switches_checks_off(tmp_path, monkeypatch):
    inside = tmp_path / "notebooks"
    inside.mkdir()
    monkeypatch.chdir(inside)
    project = tmp_path / "pyproject.toml"
    project.write_text('[tool.paddle-lab]\nchecks-off = ["same-batch", "of-a-later-version"]\n')
    assert "same-batch" not in chosen(None)
    assert "gradient-cut" in chosen(None)
    assert "same-batch" in chosen("same-batch")
    for broken in ("[tool.paddle-lab\n", "tool = 3\n", "[tool.paddle-lab]\nchecks-off = 3\n"):
        project.unlink(missing_ok=True)
        (inside / "pyproject.toml").write_text(broken)
        assert "same-batch" in chosen(None)


def test_names_that_are_left_out_must_exist():
    with pytest.raises(ValueError, match="'same-batch'"):
        chosen("all,-same-batches")
    assert set(chosen("all")) - set(chosen("all,-same-batch")) == {"same-batch"}
    assert chosen("") == chosen("none") == []
