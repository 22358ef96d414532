"""The language that findings and advice speak."""

from __future__ import annotations

import locale
import os

from paddle_lab.analysis.findings.text import LANGUAGES, Language

_chosen: Language | None = None


def language(name: Language | None = None) -> Language:
    """Return the language of findings and advice, after choosing it where one is given.

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
            raise ValueError(f"findings do not speak {name!r}; they speak {known}")
        _chosen = name
    return _chosen or _of_locale()


def _of_locale() -> Language:
    # As gettext asks the environment; Windows has its own word for it.
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(variable)
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    name = locale.getlocale()[0] or ""
    return "zh" if name.lower().startswith(("zh", "chinese")) else "en"
