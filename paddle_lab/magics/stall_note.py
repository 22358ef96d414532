"""While no op runs, shows below the cell what each thread does and at which line it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_lab.flights.flight import Line
from paddle_lab.notebook_cells import cell_of, source_line
from paddle_lab.words import say

if TYPE_CHECKING:
    from paddle_lab.capture.flight.stalls import StalledThread

_MINUTE_S = 60


class StallNote:
    """The output with the note. It becomes empty when the cell continues.

    Parameters
    ----------
    shell
        The shell that runs the cell. Any thread must be able to write its output.
    """

    def __init__(self, shell: Any) -> None:
        self._publish = shell.display_pub.publish
        self._parent = getattr(shell, "parent_header", None)
        self._identity: str | None = None
        self._told = ""

    def tell(self, seconds: float, threads: list[StalledThread]) -> None:
        """Show what the threads do. Without threads, clear the output."""
        text = ""
        if threads:
            shown_s = int(seconds) if seconds < _MINUTE_S else int(seconds // 10) * 10
            places = [line for thread in threads for line in _lines(thread)]
            text = "\n".join([say("flights.stall.head", n=shown_s), *places])
        if text == self._told:
            return
        is_new = self._identity is None
        self._identity = self._identity or f"paddle-lab-stall-{id(self)}"
        self._told = text
        data = {"text/plain": text} if text else {"text/plain": "", "text/html": ""}
        self._publish(data, transient={"display_id": self._identity}, update=not is_new)


def _lines(thread: StalledThread) -> list[str]:
    first, *callers = _shown(thread.stack)
    state = say(f"flights.stall.{thread.state}", detail=thread.detail)
    head = say("flights.stall.thread", name=thread.name, place=str(first), text=first.text)
    lines = [head.rstrip(), f"    {state}", *(_frame(caller) for caller in callers)]
    for number, process, stack in thread.workers:
        lines.append("    " + say("flights.stall.worker", n=number, process=process))
        lines += [_frame(line) for line in _shown(stack)]
    return lines


def _shown(stack: tuple[tuple[str, int, str], ...]) -> list[Line]:
    return [
        Line(*place, -1 if (cell := cell_of(place[0])) is None else cell, source_line(*place[:2]))
        for place in stack
    ]


def _frame(line: Line) -> str:
    return "  " + say("flights.frame", place=str(line), function=line.function)
