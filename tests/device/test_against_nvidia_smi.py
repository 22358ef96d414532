"""NVML's counters agree with ``nvidia-smi``: with the real driver, or with stand-ins for both."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sampling.stand_in_driver import GIB, StandInDriver

_SCRIPT = Path(__file__).with_name("nvml_against_nvidia_smi.py")


@pytest.mark.skipif(not shutil.which("nvidia-smi"), reason="this machine has no NVIDIA driver")
def test_the_figures_are_those_of_nvidia_smi() -> None:
    done = subprocess.run([sys.executable, _SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("used_mib", "code"), [(3072, 0), (3672, 1)])
def test_the_comparison_tells_what_differs(tmp_path: Path, used_mib: int, code: int) -> None:
    driver = StandInDriver(tmp_path)
    driver.answer(devices=1)
    driver.device(0, used_bytes=3 * GIB, percent=7)
    stand_in = tmp_path / "nvidia-smi"
    stand_in.write_text(f"#!/bin/sh\necho '{used_mib}, {80 * 1024}'\n")
    stand_in.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, _SCRIPT, "--mib", "0"],
        env=os.environ | driver.environment | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "3072.0 of 81920.0 MiB, 7 % in use" in done.stdout
