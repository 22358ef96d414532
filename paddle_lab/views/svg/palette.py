"""The colours of static pictures, which are those of the front end's theme."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Palette:
    """Colours by their meaning."""

    ground: str
    ink: str
    soft: str
    line: str
    frame: str
    nested_frame: str
    chip: str
    forward: str
    backward: str
    optimizer: str
    leaf: str
    warn: str
    caution: str
    detach: str

    def of_phase(self, phase: str) -> str:
        """Return the colour of an op in this phase."""
        return {"backward": self.backward, "optimizer": self.optimizer}.get(phase, self.forward)

    def of_severity(self, severity: str) -> str:
        """Return the colour of text about findings of this severity."""
        return {"error": self.warn, "warning": self.caution}.get(severity, self.soft)


PALETTES = {
    "light": Palette(
        ground="#ffffff",
        ink="#1f2430",
        soft="#5b6376",
        line="#dfe3ea",
        frame="#f4f6fa",
        nested_frame="#eceff5",
        chip="#edf0f5",
        forward="#2463cf",
        backward="#a44d0b",
        optimizer="#7446bd",
        leaf="#1f734c",
        warn="#bf2837",
        caution="#8a5a00",
        detach="#838b9c",
    ),
    "dark": Palette(
        ground="#14171e",
        ink="#e4e8f0",
        soft="#9aa3b6",
        line="#2c323f",
        frame="#1b202a",
        nested_frame="#222835",
        chip="#272d3a",
        forward="#7aa7ff",
        backward="#f0a15c",
        optimizer="#c3a0ff",
        leaf="#6fcf9f",
        warn="#ff828b",
        caution="#f0c04a",
        detach="#78819a",
    ),
}
