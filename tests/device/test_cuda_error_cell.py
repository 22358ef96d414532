"""On a GPU: the finding names the op that failed, and the user's own exception is raised."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.bugs.bug_file import planted
from tests.device.counted_device import CountedDevice

_CELL = Path(__file__).parent / "cells" / "cuda_error.py"
# The GPU's context is lost then: nothing else may run in that process.
_RUN = """
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
import paddle
from tests.bugs.bug_file import found, run_bug
paddle.device.set_device({device!r})
path = Path({cell!r})
trace, raised = run_bug(path, check="cuda-error")
print("RAISED", type(raised).__name__)
print("FOUND", sorted(found(trace, path)))
"""


def test_the_line_at_which_the_gpu_failed_is_named(gpu: CountedDevice) -> None:
    root = str(Path(__file__).resolve().parents[2])
    code = _RUN.format(root=root, device=gpu.name, cell=str(_CELL))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f"FOUND {sorted(planted(_CELL))}" in done.stdout, done.stdout + done.stderr
    assert "RAISED NoneType" not in done.stdout
