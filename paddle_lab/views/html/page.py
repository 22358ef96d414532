"""HTML files that work offline: the interactive graph, and pages without scripts.

The data of a graph comes last, in pieces (``js/src/loading/page_payload.ts``).
"""

from __future__ import annotations

import base64
import hashlib
from html import escape

from paddle_lab.trace.record import Record
from paddle_lab.views.html.static_files import static_file
from paddle_lab.views.svg.picture import svg_picture
from paddle_lab.views.text.summary import full_title
from paddle_lab.words import Language, language, say

_PAGE_STYLE = """
html, body { margin: 0; height: 100%; }
#pdl-root { height: 100vh; }
noscript p { font: 14px system-ui, sans-serif; margin: 12px 16px; }
"""

_PLAIN_STYLE = (
    ":root{color-scheme:light dark}body{font:14px/1.5 system-ui,sans-serif;margin:16px}"
    "table{border-collapse:collapse;font-size:13px}tr+tr{border-top:1px solid #8884}"
    "td,th{padding:4px 10px;text-align:left;vertical-align:top}code{font-size:13px}"
)
_PIECE_BYTES = 48 << 10
"""Size of a piece of the payload: 64 kB of text, which browsers keep together as a page arrives."""
_LANGUAGES: dict[Language, str] = {"en": "en", "zh": "zh-CN"}


def html_page(record: Record, *, payload: bytes) -> str:
    """Return the page as text.

    Parameters
    ----------
    record
        A record with answer tables.
    payload
        The bytes of :func:`paddle_lab.trace.pack.pack` that the front end reads.

    Raises
    ------
    FileNotFoundError
        If this installation lacks its built front end.
    """
    script = _escaped(_static("standalone.js"))
    style = _static("widget.css").replace("</style", "<\\/style") + _PAGE_STYLE
    title = full_title(record)
    # The policy lets the page run only its own script and load nothing, whatever the trace
    # contains.
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hash(script)}",
            f"style-src {_hash(style)}",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    return f"""<!DOCTYPE html>
<html lang="{_LANGUAGES[language()]}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="paddle_lab {escape(record.origin.paddle_lab)}">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
<div id="pdl-root"><noscript>
<p>{say("reports.no_scripts")}</p>
{svg_picture(record)}
</noscript></div>
<script>{script}</script>
{_pieces(payload)}
</body>
</html>
"""


def plain_page(content: str, title: str) -> str:
    """Return HTML as a whole page that runs no scripts and loads nothing."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!DOCTYPE html>\n<html lang="{_LANGUAGES[language()]}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<title>{escape(title)}</title><style>{_PLAIN_STYLE}</style></head>"
        f"<body>{content}</body></html>\n"
    )


def _pieces(payload: bytes) -> str:
    return "\n".join(
        '<script type="application/x-paddle-lab">'
        f"{base64.b64encode(payload[first : first + _PIECE_BYTES]).decode()}</script>"
        for first in range(0, len(payload), _PIECE_BYTES)
    )


def _escaped(script: str) -> str:
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _static(name: str) -> str:
    text = static_file(name).read_text(encoding="utf-8")
    # Browsers replace every newline in a script by a line feed before they hash the script.
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode()}'"
