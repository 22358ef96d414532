"""Kernels whose environment lacks a package."""

from __future__ import annotations

import json
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[3]


def install_lesser_kernel(data: Path, name: str, without: str) -> None:
    """Make a kernel whose packages are those of this environment without one of them.

    Its packages are links, and Python looks for no others (``-S``).
    """
    packages = data / "packages" / name
    packages.mkdir(parents=True)
    for folder in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for entry in Path(folder).iterdir():
            is_left_out = entry.name == without or entry.name.startswith(f"{without}-")
            if not is_left_out and not (packages / entry.name).exists():
                (packages / entry.name).symlink_to(entry)
    spec = data / "kernels" / name
    spec.mkdir(parents=True)
    kernel = {
        "argv": [sys.executable, "-S", "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": name,
        "language": "python",
        "env": {"PYTHONPATH": f"{ROOT}:{packages}"},
    }
    (spec / "kernel.json").write_text(json.dumps(kernel))
