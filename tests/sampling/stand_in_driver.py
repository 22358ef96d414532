"""A stand-in for the NVIDIA driver's library, compiled from ``stand_in_driver.c``, and its data.

The real ``pynvml`` loads it like the driver's library. There is no device behind it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

GIB = 1 << 30
NAME = "libnvidia-ml.so.1"
_SOURCE = Path(__file__).with_name("stand_in_driver.c")


class StandInDriver:
    """A directory with the library, and the file that says what it answers.

    Parameters
    ----------
    directory
        Where both are made.
    is_before_510
        Whether it lacks what drivers before 510 lack.
    """

    def __init__(self, directory: Path, *, is_before_510: bool = False) -> None:
        compiler = shutil.which(os.environ.get("CC", "cc")) or shutil.which("gcc")
        if compiler is None:
            pytest.skip("no C compiler is here to make a stand-in for the NVIDIA driver")
        self.directory = directory
        self._answers_path = directory / "answers"
        self._answers: dict[str, tuple[int, ...]] = {}
        options = ["-DBEFORE_510"] if is_before_510 else []
        subprocess.run(
            [compiler, "-shared", "-fPIC", *options, str(_SOURCE), "-o", str(directory / NAME)],
            check=True,
        )
        self.answer()

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables with which a process finds the library."""
        return {
            "LD_LIBRARY_PATH": str(self.directory),
            "STAND_IN_DRIVER": str(self._answers_path),
        }

    def device(self, index: int, *, used_bytes: int, percent: int = 0, total_bytes: int = 80 * GIB):
        """Let a device be in use so much; the driver keeps 600 MiB of each for itself."""
        self.answer(
            {
                f"memory.{index}": (total_bytes, 600 << 20, used_bytes),
                f"utilisation.{index}": (percent,),
            }
        )

    def answer(self, named: dict[str, tuple[int, ...]] | None = None, **answers: int) -> None:
        """Set the answers from now on. ``stand_in_driver.c`` lists what can be answered."""
        self._answers |= named or {}
        self._answers |= {name: (value,) for name, value in answers.items()}
        lines = (" ".join((name, *map(str, each))) for name, each in self._answers.items())
        # Never half of a file.
        written = self._answers_path.with_suffix(".new")
        written.write_text("".join(f"{line}\n" for line in lines))
        written.replace(self._answers_path)
