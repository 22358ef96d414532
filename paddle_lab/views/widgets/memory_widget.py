"""The live chart: memory while cells run."""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable
from typing import Any, Final

import traitlets

from paddle_lab.analysis.tables.text_table import sentence_html
from paddle_lab.sampling.history import Batch
from paddle_lab.sampling.sampler import Sampler
from paddle_lab.views.html.notebook_output import LIVE_MIME_TYPE
from paddle_lab.views.html.static_files import widget_module
from paddle_lab.views.widgets.cell_widget import CellWidget
from paddle_lab.words import language, say

_LEAST_HEIGHT_PX: Final = 160
_LARGEST_HEIGHT_PX: Final = 2000
_ANSWER_LIMIT_S: Final = 5.0
"""How long the views of a chart have time to answer that they still exist."""


class LiveMemory(CellWidget):
    """A chart of a sampler's counters. The sampler's thread updates it while the kernel is busy.

    Parameters
    ----------
    sampler
        The sampler to show. The widget starts and stops it.
    height
        The height of the chart, 160 to 2000 pixels.
    free
        Called in the main thread if the user presses the button *Free*. It frees memory and returns
        a sentence about the freed memory. Without it there is no button.

    Raises
    ------
    ValueError
        If the height is out of bounds.
    """

    _esm = widget_module("live.js")

    _height = traitlets.Int(300).tag(sync=True)
    _has_free = traitlets.Bool(default_value=False).tag(sync=True)
    # The wall clock at time 0 of the messages, in ms. The page shows times in its own time zone.
    _epoch_ms = traitlets.Float(0.0).tag(sync=True)
    _language = traitlets.Unicode("en").tag(sync=True)
    is_running = traitlets.Bool(default_value=False).tag(sync=True)
    # The reason why the chart has stopped.
    stopped_because = traitlets.Unicode("").tag(sync=True)

    def __init__(
        self, sampler: Sampler, *, height: int = 300, free: Callable[[], str] | None = None
    ) -> None:
        least, most = _LEAST_HEIGHT_PX, _LARGEST_HEIGHT_PX
        if not least <= height <= most:
            raise ValueError(say("errors.chart_height", least=least, most=most, height=height))
        self.sampler = sampler
        """The sampler that is shown."""
        self._free = free
        self._answer_limit_s = 0.0
        super().__init__(
            _height=height,
            _has_free=free is not None,
            _epoch_ms=sampler.started_epoch_ns / 1e6,
            _language=language(),
        )

    def start(self) -> None:
        """Start sampling and sending."""
        if self.is_running:
            return
        self.is_running = True
        self.stopped_because = ""
        self.sampler.start(self._send_batch)
        atexit.register(self.stop, say("reports.live.kernel_ended"))

    def stop(self, because: str = "") -> None:
        """Stop sampling. The chart stays, and shows that it has stopped.

        Parameters
        ----------
        because
            The reason, which the chart shows, such as ``"%paddle_mem off"``.
        """
        if not self.is_running:
            return
        atexit.unregister(self.stop)
        self.sampler.stop()
        self.stopped_because = because
        self.is_running = False

    def close(self) -> None:
        """Stop sampling, and remove the chart from the page."""
        self.stop(say("reports.live.closed"))
        super().close()

    def is_at_work(self) -> bool:
        """Whether the chart is sampling. Then it stays open even if no page shows it."""
        return self.is_running

    def substitute_html(self, note: str) -> str:
        """Return only the note, because there is no static picture of a live chart."""
        return f"<p>{sentence_html(note)}</p>"

    def output_data(self, widget: dict[str, str]) -> dict[str, Any]:
        """Return the data that is shown instead of the chart when its kernel has ended."""
        return {
            LIVE_MIME_TYPE: {
                "text": say("reports.live.gone"),
                "widget": widget,
                "language": language(),
            },
            "text/html": f"<p>{say('environments.chart_elsewhere')}</p>",
            "text/plain": say("reports.live.text"),
        }

    # -- messages of the page --------------------------------------------------------------------

    def _send_batch(self, batch: Batch) -> None:
        """Send new samples. The sampler's thread calls this."""
        if self._answer_limit_s and time.monotonic() > self._answer_limit_s:
            self.stop(say("reports.live.chart_closed"))
            return
        self._tell("batch", batch)

    def _tell(self, kind: str, batch: Batch) -> None:
        message, buffers = batch.message()
        self.send({"kind": kind, **message}, buffers)

    def hear(self, content: Any) -> None:
        """Handle a message from the page. Messages arrive between cells."""
        kind = content.get("kind") if isinstance(content, dict) else None
        if kind == "opened":
            self._answer_limit_s = 0.0
            self._tell("history", self.sampler.batch()[0])
        elif kind == "present":
            self._answer_limit_s = 0.0
        elif kind == "closed":
            # Other views of this chart, perhaps in other tabs, answer this message.
            self._answer_limit_s = time.monotonic() + _ANSWER_LIMIT_S
            self.send({"kind": "who"})
        elif kind == "stop":
            self.stop(say("reports.live.by_button"))
        elif kind == "free" and self._free is not None:
            try:
                text = self._free()
            except Exception as error:  # noqa: BLE001  (a callback of the page has no cell to raise in)
                text = say("reports.freed.failed", error=f"{type(error).__name__}: {error}")
            self.send({"kind": "freed", "text": text})
        else:
            self.send({"kind": "error", "text": say("reports.live.no_message", kind=repr(kind))})
