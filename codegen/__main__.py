"""``python -m codegen`` writes the generated files; with ``--check`` it only compares them."""

from __future__ import annotations

import sys
from pathlib import Path

from codegen.native_constants import native_constants
from codegen.protocol import protocol

ROOT = Path(__file__).parents[1]
GENERATED = {
    "paddle_lab/capture/native/constants.h": native_constants,
    "js/src/trace/protocol.ts": protocol,
}
"""Each generated file and the function that returns its text."""


def main() -> int:
    """Write the files, or with ``--check`` report those that are out of date."""
    is_check = "--check" in sys.argv[1:]
    outdated = []
    for name, text_of in GENERATED.items():
        path, text = ROOT / name, text_of()
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if is_check:
            outdated.append(name)
        else:
            path.write_text(text, encoding="utf-8", newline="\n")
            sys.stdout.write(f"wrote {name}\n")
    for name in outdated:
        sys.stderr.write(f"{name} is out of date: run `make generate`.\n")
    return 1 if outdated else 0


if __name__ == "__main__":
    sys.exit(main())
