"""The table of known errors, read from ``errors.toml``."""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib import resources
from typing import Any

from paddle_lab.error_help.known_error import KnownError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@lru_cache(maxsize=1)
def known_errors() -> tuple[KnownError, ...]:
    """Return the table's rows, in its order: where two fit, the first is the better one."""
    text = resources.files(__package__).joinpath("errors.toml").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = tomllib.loads(text)["error"]
    return tuple(_known_error(row) for row in rows)


def _known_error(row: dict[str, Any]) -> KnownError:
    english, chinese = row["en"], row["zh"]
    return KnownError(
        id=row["id"],
        types=tuple(row.get("types", ())),
        patterns=tuple(row["patterns"]),
        title={"en": english["title"], "zh": chinese["title"]},
        advice={"en": english["advice"], "zh": chinese["advice"]},
        source=row["source"],
        explained_by=tuple(row.get("explained_by", ())),
        is_reported=row.get("is_reported", False),
    )
