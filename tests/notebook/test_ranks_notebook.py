"""``%%paddle_ranks`` in the example notebook: what it finds in each job, and what it leaves."""

from __future__ import annotations

import gc
import json
import tempfile
from pathlib import Path

import pytest
from IPython.utils.capture import capture_output

from paddle_lab.capture.native import NATIVE
from tests.notebook.shell import fresh_shell, run

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "08_ranks.ipynb"
FOUND = [["hang"], ["parameters-differ"], ["rank-died", "hang"]]


@pytest.mark.skipif(NATIVE is None, reason="a dead rank's signal is in its flight record")
def test_each_job_has_its_finding_and_shows_its_run() -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    left = Path(tempfile.mkdtemp(prefix=f"paddle-lab-run-{2**22 + 1}-"))  # of no process
    found = []
    with fresh_shell(setup="") as shell:
        for cell in cells:
            if cell["cell_type"] != "code":
                continue
            code = "".join(cell["source"]).replace("time.sleep(7)", "time.sleep(0)")
            with capture_output() as shown:
                run(shell, code).raise_error()
            if code.startswith("%%paddle_ranks"):
                job, jobs_run, outputs = code, shell.user_ns["_run"], shown.outputs
                found.append([one.kind for one in jobs_run.findings])
        assert found == FOUND
        (_, line), (_, dead_line) = jobs_run.findings[0].places.values()
        assert "all_reduce" in job.splitlines()[line - 1]
        assert "string_at" in job.splitlines()[dead_line - 1]
        assert outputs[-1].data["text/html"] == jobs_run._content()
        assert not left.exists()
        directory = jobs_run.path
        assert directory.exists()
        shell.user_ns["_run"] = jobs_run = shown = None
        outputs.clear()
        gc.collect()
        assert not directory.exists()
