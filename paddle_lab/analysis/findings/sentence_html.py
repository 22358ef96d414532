"""A sentence of a finding or an advice as HTML."""

from __future__ import annotations

import re
from html import escape

_CODE = re.compile(r"`([^`]+)`")


def sentence_html(sentence: str) -> str:
    """Return a sentence with its text between backticks as code, and nothing else as HTML."""
    return _CODE.sub(r"<code>\1</code>", escape(sentence))
