"""A large cell shows a note while its picture is made; the picture replaces the note."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from IPython.core.displaypub import CapturingDisplayPublisher

from paddle_lab.magics import waiting_note
from paddle_lab.views.html.notebook_output import GRAPH_MIME_TYPE
from tests.notebook.shell import run

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def shown(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> CapturingDisplayPublisher:
    publisher = CapturingDisplayPublisher(parent=shell)
    monkeypatch.setattr(shell, "display_pub", publisher)
    return publisher


@pytest.mark.parametrize("magic", ["%%paddle_trace", "%%paddle_mem"])
def test_sentences_give_way_to_the_picture(
    shell: InteractiveShell,
    shown: CapturingDisplayPublisher,
    monkeypatch: pytest.MonkeyPatch,
    magic: str,
) -> None:
    monkeypatch.setattr(waiting_note, "_MANY_OPS", 2)
    run(shell, f"{magic}\nnet(x).sum()").raise_error()
    first, *others = [output for output in shown.outputs if output["transient"]]
    assert not first["update"]
    assert "record of 2 ops" in first["data"]["text/plain"]
    assert all(output["update"] for output in others)
    assert {output["transient"]["display_id"] for output in others} == {
        first["transient"]["display_id"]
    }
    # Our plugin can show the picture before the kernel has made what the notebook stores.
    assert [GRAPH_MIME_TYPE in output["data"] for output in others] == [False, False, True, True]
    assert [WIDGET in output["data"] for output in others] == [False, False, False, True]
    assert "payload" not in others[2]["data"][GRAPH_MIME_TYPE]


def test_a_small_cell_is_shown_at_once(
    shell: InteractiveShell, shown: CapturingDisplayPublisher
) -> None:
    run(shell, "%%paddle_trace\nnet(x).sum()").raise_error()
    (output,) = (output for output in shown.outputs if WIDGET in output["data"])
    assert not output["transient"]
    assert not any("has ended" in one["data"].get("text/plain", "") for one in shown.outputs)


def test_a_long_log_is_waited_for(
    shell: InteractiveShell, shown: CapturingDisplayPublisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting_note, "_MUCH_LOG_BYTES", 100)
    run(shell, "%%paddle_trace --log 3\nnet(x).sum()").raise_error()
    assert any("record of 2 ops" in one["data"].get("text/plain", "") for one in shown.outputs)
