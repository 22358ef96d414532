"""Several patches of Paddle that are installed and removed together."""

from __future__ import annotations

from paddle_lab.capture.hooks.patches import Patch


class PatchSet:
    """Installs patches in order, and removes them in the opposite order."""

    def __init__(self, *patches: Patch) -> None:
        self._patches = patches

    def open(self) -> None:
        """Install the patches."""
        for patch in self._patches:
            patch.apply()

    def close(self) -> None:
        """Remove the patches."""
        for patch in reversed(self._patches):
            patch.revert()
