"""The files generated from the schema are up to date."""

from __future__ import annotations

import pytest

from codegen.__main__ import GENERATED, ROOT


@pytest.mark.parametrize("name", GENERATED)
def test_generated_files_are_up_to_date(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == GENERATED[name](), "run `make generate`"
