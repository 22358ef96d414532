"""Traces the models of the tests, as input for `crossings.mjs`.

``python benchmarks/crossings_corpus.py FOLDER`` writes ``FOLDER/MODEL.payload`` with one training
step each. Models whose packages are not installed are left out.
"""

from __future__ import annotations

import sys
from pathlib import Path

# This file is run by its path. Add the repository, which has the modules of the models, to the
# path.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _pytest.outcomes import Skipped

import paddle_lab
from benchmarks.gpt import traced
from paddle_lab.api import Trace
from tests.models import MODELS


def step_of(name: str) -> Trace:
    """Return the trace of one step of a model."""
    step = MODELS[name]()
    step()
    with paddle_lab.trace() as trace:
        result = step()  # it and its backward graph are alive when the trace ends
    del result
    return trace


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or [*MODELS, "gpt-8", "gpt-24"]:
        try:
            blocks = name.removeprefix("gpt-")
            trace = traced(int(blocks), is_step=True) if blocks.isdecimal() else step_of(name)
        except Skipped as reason:
            print(f"{name}: {reason}")
            continue
        (folder / f"{name}.payload").write_bytes(trace.payload())
        print(f"{name}: {len(trace.ops)} ops")


if __name__ == "__main__":
    main()
