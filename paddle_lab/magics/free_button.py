"""A button below a cell that frees memory that only the notebook holds."""

from __future__ import annotations

from typing import Any

from IPython.display import display

from paddle_lab.analysis.memory.sizes import SMALLEST_BYTES, size_text
from paddle_lab.magics.memory.notebook_memory import NotebookMemory
from paddle_lab.views.html.notebook_output import LIVE_MIME_TYPE
from paddle_lab.words import say


def show_free_button(memory: NotebookMemory, releasable_bytes: int) -> None:
    """Show a button that frees memory, with the size that it frees at least.

    A click replaces the size by the freed memory. There is no button if there is little to free, or
    if there is no page. If the page cannot show a button, a sentence names the magic that does the
    same.
    """
    if releasable_bytes < SMALLEST_BYTES or not memory.has_page:
        return
    gone = say("magics.free.gone")
    bundle = {
        **_button(memory, releasable_bytes),
        LIVE_MIME_TYPE: {"text": gone},
        "text/html": f"<p>{gone}</p>",
        "text/plain": gone,
    }
    display(bundle, raw=True)


def _button(memory: NotebookMemory, releasable_bytes: int) -> dict[str, Any]:
    """Return the button as data of an output; empty if the kernel cannot show widgets."""
    try:
        import ipywidgets
    except ImportError:
        return {}

    from paddle_lab.views.widgets.shown_widgets import SHOWN, close_whole

    button = ipywidgets.Button(
        description=say("magics.free.button"),
        tooltip=say("magics.free.button_title"),
        layout=ipywidgets.Layout(width="auto"),
    )
    # A label shows the user's names as text, never as HTML. The size is a lower bound: how much the
    # backward graph of a kept tensor uses is known only after it was freed.
    answer = ipywidgets.Label(say("magics.free.at_least", size=size_text(releasable_bytes)))

    def free(_button: Any) -> None:
        button.disabled = True
        answer.value = memory.release()

    button.on_click(free)
    box = ipywidgets.HBox([button, answer])
    SHOWN.stand(box, lambda: close_whole(box))
    box.on_msg(lambda _box, content, _buffers: SHOWN.hear(box, content))
    view: dict[str, Any] = box._repr_mimebundle_()
    return view
