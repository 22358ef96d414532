"""The folder with the flight records of this user's notebooks on this machine."""

from __future__ import annotations

import os
import tempfile
import time
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil

from paddle_lab.flights.flight import Flight, read_flight
from paddle_lab.flights.layout import NOTES, paths_of

_OLD_S: Final = 7 * 24 * 3600.0
KEPT: Final[list[tuple[Path, str]]] = []
"""The folder and name of this process's flight record; empty if the process keeps none."""


def flights_folder() -> Path:
    """Return the folder, and make it if needed. Only this user may read the folder.

    Raises
    ------
    OSError
        If the folder cannot be made, or belongs to someone else.
    """
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"paddle-lab-flights-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or (hasattr(os, "getuid") and folder.stat().st_uid != user):
        raise PermissionError(str(folder))
    return folder


def own_name(notebook: str) -> str:
    """Return the name of the flight record that this process keeps for a notebook."""
    return f"{_prefix(notebook)}{os.getpid()}"


def take_dead(folder: Path, notebook: str) -> Flight | None:
    """Return the newest record of a notebook's dead processes, and remove all records of these.

    Records of dead processes of other notebooks are removed if they are a week old.
    """
    found: list[tuple[float, Flight]] = []
    for path in folder.glob(f"*{NOTES}"):
        with suppress(OSError, ValueError, KeyError, TypeError):
            name, changed_s = path.name.removesuffix(NOTES), path.stat().st_mtime
            is_own = name.startswith(_prefix(notebook))
            if not is_own and time.time() - changed_s < _OLD_S:
                continue
            flight = read_flight(folder, name)
            if flight is not None and is_alive(flight):
                continue
            if flight is not None and is_own:
                found.append((changed_s, flight))
            for each in paths_of(folder, name):
                each.unlink(missing_ok=True)
    return max(found, key=lambda pair: pair[0])[1] if found else None


def is_alive(flight: Flight) -> bool:
    """Tell whether the process that wrote a record still runs.

    Another process may have the same process id by now, so the start times are compared.
    """
    with suppress(psutil.Error):
        started_s = psutil.Process(flight.process).create_time()
        return abs(started_s - flight.started_s) < 1.0 and process_runs(flight.process)
    return False


def process_runs(number: int) -> bool:
    """Tell whether a process is running. A zombie process is not."""
    with suppress(psutil.Error):
        return bool(psutil.Process(number).status() != psutil.STATUS_ZOMBIE)
    return False


def _prefix(notebook: str) -> str:
    return f"{zlib.crc32(notebook.encode('utf-8', 'replace')):08x}-"
