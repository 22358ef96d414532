"""What files tell where Paddle is not installed: ``python -m`` this module, with the files."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def told_by(trace: Any) -> list[Any]:
    """Return the graphs of a saved model, or of all programs of a trace, with each op's line."""
    forward = [
        [(op.name, op.layer, op.file, op.line) for op in part.ops]
        for part in trace.programs or [trace]
    ]
    backward = [
        [
            [(node["name"], node["file"], node["line"]) for _, node in graph.nodes(data=True)],
            sorted(graph.edges()),
        ]
        for graph in (part.graph("backward") for part in trace.programs)
    ]
    found = [forward, backward, sorted(trace.graph().edges())]
    return json.loads(json.dumps(found))  # as another process tells it


def told_elsewhere(paths: Sequence[Path]) -> list[Any]:
    """Return the same for files that one new process opens without Paddle."""
    command = [sys.executable, "-m", "tests.programs.without_paddle", *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return found


def _opened(path: str) -> Any:
    import paddle_lab

    return paddle_lab.program(path) if path.endswith(".json") else paddle_lab.load(path)


if __name__ == "__main__":
    sys.modules["paddle"] = None  # type: ignore[assignment]
    json.dump([told_by(_opened(path)) for path in sys.argv[1:]], sys.stdout)
