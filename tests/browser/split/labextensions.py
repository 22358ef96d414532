"""The extensions of a Jupyter server, with some of them left out."""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

_INSTALLED = Path(sys.prefix) / "share/jupyter/labextensions"
OURS, ANYWIDGET, MANAGER = "paddle-lab", "anywidget", "@jupyter-widgets/jupyterlab-manager"
_ALL = (OURS, ANYWIDGET, MANAGER)
COMBINATIONS = [
    frozenset(name for name, is_there in zip(_ALL, there, strict=True) if is_there)
    for there in product((True, False), repeat=3)
]


def letters(names: frozenset[str]) -> str:
    """Return a combination as a name: ``O-M`` is without anywidget."""
    return "".join(sign if name in names else "-" for sign, name in zip("OAM", _ALL, strict=True))


class Labextensions:
    """A folder of extensions as an installation has it; a page that is loaded has what is there.

    Parameters
    ----------
    folder
        Where it is made.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for extension in ("@jupyter-notebook/lab-extension", "jupyterlab_pygments"):
            self._link(extension)

    def have(self, names: frozenset[str]) -> None:
        """Install only these of the three extensions that show widgets."""
        for name in _ALL:
            (self.folder / name).unlink(missing_ok=True)
            if name in names:
                self._link(name)

    def _link(self, name: str) -> None:
        link = self.folder / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(_INSTALLED / name)
