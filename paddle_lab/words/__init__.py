"""What people read, in English and in Chinese: one table, in the files beside this one.

A file is a room of the product, a key in it is one sentence or label in both languages::

    "graph-kept.piled_up": {
      "en": "{count} {count|tensor|tensors} of {place} …",
      "zh": "{place} 的 {count} 个张量……"
    }

``{name}`` stands for a value, ``{name:,}`` for a number with its thousands apart, and
``{name|tensor|tensors}`` for a word that follows the number ``name``: for 1, and for all others.
``js/src/words/`` reads ``page.json``, ``live.json`` and ``loader.json`` when the page is built.
"""

from __future__ import annotations

import json
import locale
import os
import re
from functools import cache
from importlib import resources
from typing import Final, Literal, cast, get_args

Language = Literal["en", "zh"]
LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)

# As in js/src/words/say.ts.
_PLACEHOLDER: Final = re.compile(r"\{(\w+)(?:(:,)|\|([^|{}]*)\|([^|{}]*))?\}")

_chosen: Language | None = None


def language(name: Language | None = None) -> Language:
    """Return the language of what is shown, after choosing it where one is given.

    What is shown from now on speaks it: findings, reports, errors of magics and pictures. What is
    on the page already stays as it is.

    Parameters
    ----------
    name
        ``"en"`` or ``"zh"``. Until one is chosen it is the locale's: Chinese for ``zh_CN`` and its
        kin, else English.

    Raises
    ------
    ValueError
        For a language that there is not.
    """
    global _chosen  # noqa: PLW0603  (one language a process, as the locale)
    if name is not None:
        if name not in LANGUAGES:
            known = ", ".join(map(repr, LANGUAGES))
            raise ValueError(say("errors.language", name=repr(name), known=known))
        _chosen = name
    return _chosen or _of_locale()


def say(key: str, /, **values: str | float) -> str:
    """Return what a key of the table says, in the language of :func:`language`.

    Parameters
    ----------
    key
        The file and the key in it: ``"findings.graph-kept.title"``.
    values
        What stands for its placeholders.
    """
    room, _, name = key.partition(".")
    # A key that there is not is found by the tests; it must not end a user's cell.
    text = _room(room).get(name, {}).get(language(), key)

    def shown(placeholder: re.Match[str]) -> str:
        value = values.get(placeholder[1], placeholder[0])
        if placeholder[3] is not None:
            return placeholder[3] if value == 1 else placeholder[4]
        return f"{value:,}" if placeholder[2] and not isinstance(value, str) else str(value)

    return _PLACEHOLDER.sub(shown, text)


@cache
def _room(name: str) -> dict[str, dict[str, str]]:
    file = resources.files(__name__).joinpath(f"{name}.json")
    table = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return cast("dict[str, dict[str, str]]", table)


def _of_locale() -> Language:
    # As gettext asks the environment; Windows has its own word for it.
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(variable)
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    name = locale.getlocale()[0] or ""
    return "zh" if name.lower().startswith(("zh", "chinese")) else "en"
