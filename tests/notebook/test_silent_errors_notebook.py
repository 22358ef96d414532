"""The example notebook on silent errors: each wrong training has its finding, no mended one has."""

from __future__ import annotations

import json
from pathlib import Path

from tests.notebook.shell import fresh_shell, run

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "10_silent_errors.ipynb"
FOUND = {
    "twice": "loss-input",
    "short": "rate-zero",
    "alias": "aliased-state",
    "hidden_words": "attention-mask",
    "thawed": "thawed",
}
MENDED = ["once", "long", "copied", "hidden_padding", "frozen"]


def test_each_training_has_its_finding_and_its_mended_twin_none() -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    with fresh_shell(setup="import paddle, paddle_lab") as shell:
        for cell in cells:
            if cell["cell_type"] == "code":
                run(shell, "".join(cell["source"])).raise_error()
        traces = shell.user_ns
        for name, kind in FOUND.items():
            assert [one.kind for one in traces[name].findings] == [kind]
        for name in MENDED:
            assert not traces[name].findings
