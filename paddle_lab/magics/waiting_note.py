"""Shows the progress after a large cell has ended, until the picture is ready."""

from __future__ import annotations

from typing import Any

from IPython.display import display

_MANY_OPS = 20_000
"""If there are fewer ops, the picture appears before a user could read the sentence."""
_MUCH_LOG_BYTES = 8 << 20
"""Reading this much takes half a second or more."""


class WaitingNote:
    """An output that shows sentences one after the other, and then the picture.

    Parameters
    ----------
    ops
        How many ops ran. With 0 no sentences are shown.
    log_bytes
        The size of Paddle's log, which must be read.
    """

    def __init__(self, ops: int, log_bytes: int = 0) -> None:
        self._is_wanted = ops >= _MANY_OPS or log_bytes >= _MUCH_LOG_BYTES
        self._sentence = ""
        self._handle: Any = None

    def tell(self, sentence: str) -> None:
        """Show a sentence about the current work."""
        if not self._is_wanted:
            return
        self._sentence = sentence
        data = {"text/plain": sentence}
        if self._handle is None:
            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)

    def show_early(self, data: dict[str, Any]) -> None:
        """Show a picture in pages that can draw ``data``. Other pages still show the sentence."""
        if self._handle is not None:
            self._handle.update({"text/plain": self._sentence, **data}, raw=True)

    def give_way(self, shown: Any) -> None:
        """Replace the sentences by the picture."""
        if self._handle is None:
            display(shown)
        else:
            self._handle.update(shown)
            self._handle = None
