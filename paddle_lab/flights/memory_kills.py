"""Asks the operating system about processes that it killed for lack of memory."""

from __future__ import annotations

import re
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Final

_EVENTS: Final = (
    Path("/sys/fs/cgroup/memory.events"),
    Path("/sys/fs/cgroup/memory/memory.oom_control"),
)
_KILL: Final = re.compile(r"out of memory|oom-kill|killed process", re.IGNORECASE)


def memory_kill_count() -> int:
    """Return how many processes of this container were killed for lack of memory; -1 if unknown."""
    for path in _EVENTS:
        with suppress(OSError, ValueError):
            for line in path.read_text(encoding="utf-8").splitlines():
                if line.startswith("oom_kill "):
                    return int(line.split()[1])
    return -1


def kernel_message(process: int) -> str:
    """Return what the operating system's log says about a process's death; ``""`` if nothing."""
    try:
        log = subprocess.run(["dmesg"], capture_output=True, timeout=2, check=False)  # noqa: S607
    except (OSError, subprocess.SubprocessError):
        return ""
    lines = log.stdout.decode("utf-8", "replace").splitlines()
    found = re.compile(rf"\b{process}\b")
    told = [line for line in lines if found.search(line) and _KILL.search(line)]
    return told[-1] if told else ""
