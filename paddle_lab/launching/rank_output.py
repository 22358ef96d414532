"""Copies the output of the ranks, and writes the rank before each line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

_LOG: Final = re.compile(r"workerlog\.(\d+)$")


class RankOutput:
    """Copies new lines from the log files of Paddle's launcher.

    Parameters
    ----------
    directory
        The directory of the log files.
    write
        Called with the lines.
    """

    def __init__(self, directory: Path, write: Callable[[str], object]) -> None:
        self._directory = directory
        self._write = write
        self._offsets: dict[Path, int] = {}

    def copy(self) -> None:
        """Copy the new lines that are complete."""
        paths = self._directory.glob("workerlog.*")
        logs = [(int(found[1]), path) for path in paths if (found := _LOG.search(path.name))]
        for rank, path in sorted(logs):
            offset = self._offsets.get(path, 0)
            with path.open("rb") as file:
                file.seek(offset)
                data = file.read()
            data = data[: data.rfind(b"\n") + 1]
            self._offsets[path] = offset + len(data)
            for line in data.decode("utf-8", "replace").splitlines():
                self._write(f"[{rank}] {line}\n")
