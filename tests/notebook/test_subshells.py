"""Messages of pages that open and close their subshells, in a real kernel."""

from __future__ import annotations

import time
from typing import Any

_LIMIT_S = 30


def _chart(kernel: Any) -> str:
    """Show the live chart; return the number of its comm."""
    opened: list[str] = []

    def hear(message: Any) -> None:
        state = message["content"].get("data", {})
        if message["msg_type"] == "comm_open" and "_epoch_ms" in state.get("state", {}):
            opened.append(message["content"]["comm_id"])

    kernel.execute_interactive(
        "%load_ext paddle_lab\n%paddle_mem", timeout=_LIMIT_S, output_hook=hear
    )
    [comm] = opened
    return comm


def _control(kernel: Any, kind: str, **content: str) -> dict[str, str]:
    request = kernel.session.msg(kind, content)
    kernel.control_channel.send(request)
    while True:
        reply = kernel.get_control_msg(timeout=_LIMIT_S)
        if reply["parent_header"].get("msg_id") == request["header"]["msg_id"]:
            answer: dict[str, str] = reply["content"]
            assert answer["status"] == "ok", answer
            return answer


def _ask(kernel: Any, comm: str, subshell: str | None) -> bool:
    """Ask the chart for its history, as a page does. Return whether the history arrives."""
    data = {"method": "custom", "content": {"kind": "opened"}}
    request = kernel.session.msg("comm_msg", {"comm_id": comm, "data": data})
    request["header"]["subshell_id"] = subshell
    kernel.shell_channel.send(request)
    limit = time.monotonic() + 3
    while time.monotonic() < limit:
        message = kernel.get_iopub_msg(timeout=_LIMIT_S)
        said = message["content"].get("data", {})
        if isinstance(said, dict) and said.get("content", {}).get("kind") == "history":
            return True
    return False


def test_a_page_is_answered_after_another_ones_subshell_has_ended(kernel: Any) -> None:
    comm = _chart(kernel)
    first = _control(kernel, "create_subshell_request")["subshell_id"]
    assert _ask(kernel, comm, first)
    # Batches of the sampler's thread arrive in between.
    time.sleep(0.5)
    _control(kernel, "delete_subshell_request", subshell_id=first)

    second = _control(kernel, "create_subshell_request")["subshell_id"]

    assert _ask(kernel, comm, second)
