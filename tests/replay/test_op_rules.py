"""The table of written arguments against the signatures in Paddle's own C++ header."""

from __future__ import annotations

import re
from pathlib import Path

import paddle
import pytest

from paddle_lab.capture.replay.op_rules import written_by

_HEADERS = Path(paddle.__file__).parent / "include/paddle/phi/api/include"
_DECLARED = re.compile(r"PADDLE_API [^;]*?\b(\w+_)\(([^;]*?)\);")
_REFERENCE = re.compile(r"(paddle::optional<)?(std::vector<)?Tensor>*& ")
"""The type of an argument that an op writes. One that an op only reads begins with ``const``."""


def arguments(text: str) -> list[str]:
    """Split the arguments of a signature at the commas that are not in brackets."""
    while (shorter := re.sub(r"<([^<>,]*),([^<>]*)>", r"<\1;\2>", text)) != text:
        text = shorter
    return [one.strip() for one in text.split(",")]


def declared() -> dict[str, set[int]]:
    found = {}
    for header in _HEADERS.glob("*api.h"):
        for name, text in _DECLARED.findall(header.read_text()):
            parts = arguments(text)
            found[name] = {at for at, part in enumerate(parts) if _REFERENCE.match(part)}
    return found


@pytest.mark.skipif(not _HEADERS.exists(), reason="this Paddle has no headers")
def test_every_argument_that_an_op_writes_is_in_the_table():
    found = declared()
    assert len(found) > 100
    assert found["adamw_"] >= {0, 3, 4}
    missed = {
        name: (sorted(written), known)
        for name, written in found.items()
        if (known := written_by(name)) is not None and not written <= {*known}
    }
    assert not missed
