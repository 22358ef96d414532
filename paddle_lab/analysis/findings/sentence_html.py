"""A finding's sentence or advice as HTML."""

from __future__ import annotations

import re
from html import escape

_CODE = re.compile(r"`([^`]+)`")


def sentence_html(sentence: str) -> str:
    """Return a sentence as escaped HTML, with the text between backticks as ``<code>``."""
    return _CODE.sub(r"<code>\1</code>", escape(sentence))
