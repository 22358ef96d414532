"""Which recorders are listening, as seen by every hook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_lab.capture.native import native_twin

if TYPE_CHECKING:
    from paddle_lab.capture.recorder.recorder import Recorder


@native_twin
class Sinks:
    """The recorders of the open traces, outermost first; empty while hooks are suspended.

    Hooks read :attr:`active` once a call: a tuple, replaced as a whole, so that a trace that opens
    or closes in another thread never shows them half a change.
    """

    __slots__ = ("active",)

    def __init__(self) -> None:
        self.active: tuple[Recorder, ...] = ()


SINKS = Sinks()
