"""If Paddle is missing or too old, traces still open, and recording says what to install."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from paddle_lab.capture.availability import is_too_old
from paddle_lab.trace.file import save
from tests.views.test_html import large_trace

_WITHOUT = "import sys; sys.modules['paddle'] = None\n"


def run(code: str, *, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    folder = "" if path is None else f"import sys; sys.path.insert(0, {str(path)!r})\n"
    return subprocess.run(
        [sys.executable, "-c", folder + code], capture_output=True, text=True, check=False
    )


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "step.pltrace"
    save(large_trace(12).record, path)
    return path


def test_everything_but_recording_works_without_paddle(saved: Path, tmp_path: Path) -> None:
    page, picture = tmp_path / "step.html", tmp_path / "step.svg"
    done = run(
        _WITHOUT + f"import paddle_lab\ntrace = paddle_lab.load({str(saved)!r})\n"
        f"trace.to_html({str(page)!r}); trace.to_svg({str(picture)!r})\n"
        "trace.widget(); trace.summary(); trace._repr_mimebundle_()\n"
        "print(len(trace.ops), len(trace.graph('forward')), len(trace.graph('backward')) > 0)\n"
    )
    assert done.stdout.split() == ["12", "12", "True"], done.stderr
    assert page.stat().st_size > 10_000
    assert picture.read_text().startswith("<svg")


def test_recording_without_paddle_says_what_to_install() -> None:
    done = run(_WITHOUT + "import paddle_lab\nwith paddle_lab.trace(): pass")
    last = done.stderr.strip().splitlines()[-1]
    assert "PaddlePaddle, which is not installed here" in last
    assert "pip install paddlepaddle" in last


def test_the_magic_without_paddle_says_so_and_does_not_run_the_cell() -> None:
    done = run(
        _WITHOUT + "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\nshell.run_line_magic('load_ext', 'paddle_lab')\n"
        "shell.run_cell('%%paddle_trace\\nprint(\"ran\")')\n"
    )
    printed = done.stdout + done.stderr
    assert "PaddlePaddle, which is not installed here" in printed
    assert "Traceback" not in printed
    assert "ran\n" not in done.stdout


def test_a_stub_of_an_old_paddle_is_refused_by_its_version(tmp_path: Path) -> None:
    package = tmp_path / "paddle"
    package.mkdir()
    (package / "__init__.py").write_text('__version__ = "2.6.2"\n')
    done = run("import paddle_lab\nwith paddle_lab.trace(): pass", path=tmp_path)
    assert "needs PaddlePaddle 3.3 or newer, and this is 2.6.2" in done.stderr


@pytest.mark.parametrize(
    ("version", "too_old"),
    [("2.6.2", True), ("3.2.1", True), ("3.3.0", False), ("3.10.0", False), ("4.0", False),
     ("0.0.0", False), ("3.3.0-rc1", False)],
)  # fmt: skip
def test_versions(version: str, *, too_old: bool) -> None:
    assert is_too_old(version) is too_old
