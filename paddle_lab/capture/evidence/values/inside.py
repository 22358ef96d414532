"""Tells which scopes are inside the region or layer that the user chose by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from paddle_lab.capture.recorder.recorder import REGION
from paddle_lab.capture.rows.cells import NO_KEY, SCOPE_CELLS, ScopeCell
from paddle_lab.capture.rows.tape import rows_of
from paddle_lab.capture.stacks.frames import FrameAssembler
from paddle_lab.capture.stacks.source_texts import NoCells
from paddle_lab.trace.table import StringPool

if TYPE_CHECKING:
    from paddle_lab.capture.recorder.layers import LayerRow
    from paddle_lab.capture.recorder.recorder import Recorder


class Inside:
    """Tells, while the code runs, whether a scope has the chosen name or is inside such a scope.

    Parameters
    ----------
    recorder
        The recorder that has the scopes.
    name
        A region's name, or a layer's path with or without the name of its root: ``"head"``,
        ``"encoder.layers.3"``, ``"net.encoder.layers.3"``, ``"net"``.
    paddle_folder
        Folder of the paddle package.
    """

    def __init__(self, recorder: Recorder, name: str, *, paddle_folder: str) -> None:
        self.name = name
        self.known: dict[str, None] = {}
        """The names that the user could have given, in the order in which the layers ran."""
        self._recorder = recorder
        self._paddle_folder = paddle_folder
        self._layers: dict[int, tuple[str, ...]] = {}
        """The names of each layer: the path with and without the outermost layer's name."""
        self._roots: dict[int, str] = {}
        self._is_inside: dict[int, bool] = {NO_KEY: False}
        self._indexed = 0

    def holds(self, scope: int) -> bool:
        """Tell whether a scope has the chosen name, or is inside a scope that has it."""
        if scope not in self._is_inside:
            self._index()
        return self._is_inside.get(scope, False)

    @property
    def has_run(self) -> bool:
        """Whether a scope with this name has run."""
        return any(self._is_inside.values())

    def index_anew(self) -> None:
        """Build the index again, from the first row that the trace keeps."""
        self._indexed = self._recorder.scopes.start // SCOPE_CELLS

    def _index(self) -> None:
        scopes = self._recorder.scopes
        self._name_layers(self._recorder.layers.rows[len(self._layers) :])
        regions = {key: name for name, key in self._recorder.scope_names.items()}
        for cells in rows_of(scopes, SCOPE_CELLS, self._indexed):
            scope, parent, layer = (
                cells[at] for at in (ScopeCell.KEY, ScopeCell.PARENT, ScopeCell.LAYER)
            )
            names: tuple[str, ...] = ()
            if cells[ScopeCell.KIND] == REGION:
                names = (regions[cells[ScopeCell.NAME]],)
            elif layer != NO_KEY:
                names = self._layers.get(layer, ())
            self.known.update(dict.fromkeys(names))
            self._is_inside[scope] = self._is_inside.get(parent, False) or self.name in names
        self._indexed = len(scopes) // SCOPE_CELLS

    def _name_layers(self, rows: Iterable[LayerRow]) -> None:
        # The name of an outermost layer is found in the source of its call: see ``LayerPool``.
        frames: Any = None
        for key, path, class_name, caller, location in rows:
            if path is not None:
                root = self._roots.get(caller, "")
                self._layers[key] = (path, f"{root}.{path}") if root else (path,)
            else:
                frames = frames or FrameAssembler(
                    self._recorder.stacks,
                    StringPool(),
                    paddle_folder=self._paddle_folder,
                    cells=NoCells(),
                )
                root = (frames.callees([location])[0] if location else None) or class_name
                self._layers[key] = (root,)
            self._roots[key] = root
