"""The example notebook on values: each fault is found in tensors that nobody kept."""

from __future__ import annotations

import json
from pathlib import Path

from tests.notebook.shell import fresh_shell, run

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "06_back_in_time.ipynb"
PRINTED = [
    "step 3 NaN in rows [5]",
    "dead in the first step: [0 1 2]",
    "columns without a gradient: [0 1 2]",
    "older",
]


def test_the_nan_the_dead_unit_and_the_mask_are_found(capsys) -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    results = []
    with fresh_shell(setup="import paddle, paddle_lab; paddle_lab.language('en')") as shell:
        for cell in cells:
            if cell["cell_type"] == "code":
                result = run(shell, "".join(cell["source"]))
                result.raise_error()
                results.append(result.result)
    printed = capsys.readouterr().out
    assert all(line in printed for line in PRINTED)
    assert printed.count("rows []") == 4
    assert [10, 6, 3] in [list(one) for one in results if getattr(one, "shape", None) == (3,)]
