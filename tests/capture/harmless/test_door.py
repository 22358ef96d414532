"""If any one of the undocumented names is missing in Paddle, the user's code runs as untraced."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryFile
from typing import Any

import pytest

from paddle_lab.capture.door.table import FEATURES

SCRIPT = Path(__file__).with_name("without_a_name.py")
PATHS = {path: wanted_by for names, wanted_by in FEATURES.values() for path in names.values()}

Told = dict[str, Any]


@pytest.fixture(scope="module")
def ask() -> Iterator[Callable[[str], Told]]:
    """Tells what happens without a name, by its path; ``""`` for Paddle as it is."""
    command = [sys.executable, "-W", "ignore", str(SCRIPT)]
    with (
        TemporaryFile() as errors,
        Popen(command, stdin=PIPE, stdout=PIPE, stderr=errors, text=True) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        reading, writing = process.stdout, process.stdin

        def answer(path: str) -> Told:
            writing.write(f"{path}\n")
            writing.flush()
            # Paddle prints, too. With its log on, it prints whole programs.
            line = next(line for line in reading if line.startswith('{"path"'))
            told: Told = json.loads(line)
            return told

        yield answer
        writing.close()


def test_with_all_names_nothing_is_off(ask: Callable[[str], Told]) -> None:
    found = ask("")
    assert found["traced"] == found["plain"]
    assert found["ops"] > 50
    assert not found["notices"]


@pytest.mark.parametrize("path", PATHS)
def test_without_a_name_the_code_does_what_it_does_without_a_trace(
    ask: Callable[[str], Told], path: str
) -> None:
    found = ask(path)
    assert found["fault"] == ""
    assert found["traced"] == found["plain"]
    if PATHS[path] == "rerun":
        assert path in found["rerun"][0]
    elif PATHS[path] == "export":
        assert path in found["export"]
    elif PATHS[path] not in ("values", "programs", "ranks", "replay"):
        assert len(found["notices"]) == 1, found["notices"]
        (notice,) = found["notices"]
        assert notice.startswith("Off in this trace: ")
        assert path in notice
