"""Without any one of the names that Paddle does not document, the user's code runs as it would."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from paddle_lab.capture.door.table import FEATURES

SCRIPT = Path(__file__).with_name("without_a_name.py")
PATHS = {path: wanted_by for names, wanted_by in FEATURES.values() for path in names.values()}

Told = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def told() -> Told:
    """What happens without each name, by its path; ``""`` for Paddle as it is."""
    command = [sys.executable, "-W", "ignore", str(SCRIPT), "", *PATHS]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = map(json.loads, filter(lambda line: line.startswith("{"), done.stdout.splitlines()))
    return {line["path"]: line for line in lines}


def test_with_all_names_nothing_is_off(told: Told) -> None:
    found = told[""]
    assert found["traced"] == found["plain"]
    assert found["ops"] > 50
    assert not found["notices"]


@pytest.mark.parametrize("path", PATHS)
def test_without_a_name_the_code_does_what_it_does_without_a_trace(told: Told, path: str) -> None:
    found = told[path]
    assert found["fault"] == ""
    assert found["traced"] == found["plain"]
    if PATHS[path] == "rerun":
        assert path in found["rerun"][0]
    elif PATHS[path] != "values":
        (notice,) = found["notices"]
        assert notice.startswith("Off in this trace: ")
        assert path in notice
