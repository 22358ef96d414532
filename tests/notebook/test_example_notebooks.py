"""The example notebooks: what their first cells print."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))

# Behave like a machine without ccache.
WITHOUT_CCACHE = """
import os, subprocess
os.environ["PATH"] = ""
def nothing(*args, **kwargs):
    raise FileNotFoundError
subprocess.check_output = nothing
"""


def first_cell(notebook: Path) -> str:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return next("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def stderr_of(cell: str) -> str:
    code = f"{WITHOUT_CCACHE}\nfrom IPython.core.interactiveshell import InteractiveShell\n"
    code += f"shell = InteractiveShell.instance()\nshell.run_cell({cell!r}).raise_error()\n"
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    return ran.stderr


def test_the_notebooks_begin_alike_and_without_a_warning_of_paddles():
    (cell,) = {first_cell(notebook) for notebook in NOTEBOOKS}
    assert "ccache" not in stderr_of(cell)
    assert "ccache" in stderr_of("import paddle")


def test_warnings_of_the_readers_own_code_are_shown():
    cell = first_cell(NOTEBOOKS[0])
    assert "mine" in stderr_of(f'{cell}\nwarnings.warn("mine")')
