"""All text that people read, in English and in Chinese, from the JSON files in `tables/`.

Each file is for a part of the product. Each key in it has a sentence or a label::

    "graph-kept.piled_up": {
      "en": "{count} {count|tensor|tensors} of {place} …",
      "zh": "{place} 的 {count} 个张量……"
    }

``{name}`` stands for a value, ``{name:,}`` for a number with separated thousands, and
``{name|tensor|tensors}`` for a word that follows the number ``name``: for 1, and for all others.
``js/src/words/`` reads ``page.json``, ``live.json``, ``loader.json`` and ``environments.json`` when
the page is built.
"""

from __future__ import annotations

import json
import locale
import os
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Final, Literal, cast, get_args

Language = Literal["en", "zh"]
LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)

# These are the same as in js/src/words/say.ts.
_PLACEHOLDER: Final = re.compile(r"( ?)\{(\w+)(?:(:,)|\|([^|{}]*)\|([^|{}]*))?\}( ?)")
# Marks the place of a space next to a value. No text contains this character.
_ROOM: Final = "\ue000"
# Matches Chinese characters and full-width signs.
_WIDE: Final = "[\u3000-\u30ff\u4e00-\u9fff\uff00-\uff65]"
_NO_ROOM: Final = re.compile(
    f"(?<={_WIDE}){_ROOM}+(?={_WIDE})|{_ROOM}+(?=[，。；：！？（）、])|(?<=[，。；：！？（）、]){_ROOM}+"
)

_chosen: Language | None = None


def language(name: Language | None = None) -> Language:
    """Return the language of the output. With an argument, set the language first.

    All later output uses it: views, findings, reports, messages and errors. Output that is already
    on the page stays as it is. A trace's notices keep the language of the recording.

    Parameters
    ----------
    name
        ``"en"`` or ``"zh"``. By default the locale decides: Chinese for ``zh_CN`` and similar
        locales, otherwise English.

    Raises
    ------
    ValueError
        If there is no such language.
    """
    global _chosen  # noqa: PLW0603  (one language per process, as the locale)
    if name is not None:
        if name not in LANGUAGES:
            known = ", ".join(map(repr, LANGUAGES))
            raise ValueError(say("errors.language", name=repr(name), known=known))
        _chosen = name
    return _chosen or _of_locale()


def say(key: str, /, **values: object) -> str:
    """Return the text of a key, in the language of :func:`language`.

    Parameters
    ----------
    key
        The file and the key in it: ``"findings.graph-kept.title"``.
    values
        The values of the placeholders. They are converted with ``str``.
    """
    room, _, name = key.partition(".")
    speaks = language()
    # Do not raise for a missing key, which would end the user's cell. The tests find missing keys.
    text = _room(room).get(name, {}).get(speaks, key)

    def shown(found: re.Match[str]) -> str:
        before, name, is_grouped, one, many, after = found.groups()
        value = values.get(name, f"{{{name}}}")
        if one is not None:
            said = one if value == 1 else many
        else:
            said = f"{value:,}" if is_grouped and isinstance(value, int | float) else str(value)
        return f"{_ROOM if before else ''}{said}{_ROOM if after else ''}"

    said = _PLACEHOLDER.sub(shown, text)
    if speaks == "zh":
        # There is a space between Chinese and Latin text, but not between two Chinese texts.
        said = _NO_ROOM.sub("", said)
    return said.replace(_ROOM, " ")


def beginnings(key: str) -> list[str]:
    """Return the beginning of a text in each language, up to its first value."""
    room, _, name = key.partition(".")
    return [text.partition("{")[0] for text in _room(room).get(name, {}).values()]


class Text:
    """A text that ``str`` translates at the time of its call, into the language of that time."""

    def __init__(self, key: str, /, **values: object) -> None:
        self.key = key
        self._values = values

    def __str__(self) -> str:
        return say(self.key, **self._values)


def listing(items: Sequence[object], most: int | None = None) -> str:
    """Return ``"a, b and c"``, or after ``most`` items ``"a, b and 3 more"``; ``""`` for none."""
    if most is not None and len(items) > most:
        some = say("lists.between").join(map(str, items[:most]))
        return say("lists.more", some=some, n=len(items) - most)
    if len(items) < 2:
        return "".join(map(str, items))
    some = say("lists.between").join(map(str, items[:-1]))
    return say("lists.last", some=some, last=items[-1])


@cache
def _room(name: str) -> dict[str, dict[str, str]]:
    file = resources.files(__name__) / "tables" / f"{name}.json"
    table = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return cast("dict[str, dict[str, str]]", table)


def _of_locale() -> Language:
    # gettext reads the same environment variables. Windows has its own names of languages.
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(variable)
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    name = locale.getlocale()[0] or ""
    return "zh" if name.lower().startswith(("zh", "chinese")) else "en"
