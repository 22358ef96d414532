"""Shows a run in a notebook: the report of the run, and a button for the trace of each rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import ipywidgets

from paddle_lab.views.widgets.shown_widgets import SHOWN, close_whole
from paddle_lab.words import say

_MOST_BUTTONS: Final = 64


def run_widget_data(
    content: str, ranks: Sequence[int], widget_of: Callable[[int], ipywidgets.Widget]
) -> dict[str, Any]:
    """Return the widget as data of a notebook output.

    Parameters
    ----------
    content
        The report of the run as HTML.
    ranks
        The ranks that have a trace.
    widget_of
        Returns the widget of a rank's trace. It is called when the rank's button is pressed.
    """
    place = ipywidgets.VBox()
    buttons = [
        ipywidgets.ToggleButton(
            description=say("runs.rank", rank=rank), layout=ipywidgets.Layout(width="auto")
        )
        for rank in ranks[:_MOST_BUTTONS]
    ]

    def press(rank: int, change: dict[str, Any]) -> None:
        if not change["new"]:
            if not any(button.value for button in buttons):
                place.children = ()
            return
        for button, other in zip(buttons, ranks, strict=False):
            if other != rank:
                button.value = False
        place.children = (widget_of(rank),)

    for rank, button in zip(ranks, buttons, strict=False):
        button.observe(partial(press, rank), "value")
    layout = ipywidgets.Layout(flex_flow="wrap", align_items="baseline")
    row = ipywidgets.Box([ipywidgets.Label(say("runs.open_rank")), *buttons], layout=layout)
    whole = ipywidgets.VBox([row, place, ipywidgets.HTML(content)])
    SHOWN.stand(whole, lambda: close_whole(whole))
    whole.on_msg(lambda _whole, message, _buffers: SHOWN.hear(whole, message))
    bundle = whole._repr_mimebundle_()
    view: dict[str, Any] = bundle[0] if isinstance(bundle, tuple) else bundle
    return view
