"""Which layer is which: paths as ``named_sublayers`` tells them."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from itertools import count
from types import FrameType
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.rows.object_table import ObjectTable
from paddle_lab.capture.stacks.stack_pool import Location

NO_LAYER = -1

LayerRow = tuple[int, str | None, str, int, Location | None]
"""key, path in its root, class name, parent layer; a root has no path but its call's place."""


@dataclass
class _Root:
    """A layer that no other layer holds."""

    reference: weakref.ref[Any]
    paths: dict[int, str]
    """Of its sublayers, by their ``id``."""


class LayerPool:
    """The layers a trace has seen called, and the paths of everything they hold.

    A layer called from inside another is looked up among that one's root's sublayers. What a root
    is called is read off the source of its call when the trace is over: asking the calling frame
    for its variables would keep them alive until the frame ends.
    """

    def __init__(self) -> None:
        self.rows: list[LayerRow] = []
        self.tensor_paths: dict[tuple[int, str], str] = {}
        """Each parameter and buffer of a layer seen so far to its path in its root.

        By ``id`` and by Paddle's name: an ``id`` is that of a later one where one has died.
        """
        self.known = ObjectTable()
        """Layers and their keys."""
        self._roots: dict[int, _Root] = {}
        self._next_key = count().__next__

    def key_of(self, layer: Any, caller: int, frame: FrameType | None) -> int:
        """Return the key of ``layer``.

        Parameters
        ----------
        layer
            The layer that is called.
        caller
            Key of the layer inside whose call this happens, or -1.
        frame
            The frame that calls the layer.
        """
        key: int = self.known.find(layer)
        return self._meet(layer, caller, frame) if key == NO_LAYER else key

    def _meet(self, layer: Any, caller: int, frame: FrameType | None) -> int:
        key = self._next_key()
        root = self._roots.get(caller)
        path = None if root is None else self._path_in(root, layer)
        location = None
        if root is None or path is None:
            root = _Root(weakref.ref(layer), self._index(layer))
            location = (frame.f_code, frame.f_lasti) if frame is not None else None
        self.known.note(layer, key)
        self._roots[key] = root
        self.rows.append((key, path, type(layer).__name__, caller, location))
        return key

    def _path_in(self, root: _Root, layer: Any) -> str | None:
        if id(layer) not in root.paths:
            root_layer = root.reference()
            if root_layer is None:
                return None
            # A second look: the model may have grown since the first.
            root.paths = self._index(root_layer)
        return root.paths.get(id(layer))

    def _index(self, root: Any) -> dict[int, str]:
        """Note the paths of all that ``root`` holds; return those of its sublayers by ``id``.

        The same paths as ``named_sublayers`` and ``named_parameters`` tell, in one walk of our own:
        theirs take longer than the forward pass that is traced.
        """
        paths: dict[int, str] = {}
        pending = [("", root)] if DOOR.has("layer_paths") else []
        while pending:
            prefix, layer = pending.pop()
            for held in (DOOR.layer_parameters(layer), DOOR.layer_buffers(layer)):
                for name, tensor in held.items():
                    if tensor is not None:
                        self.tensor_paths.setdefault((id(tensor), tensor.name), prefix + name)
            if not DOOR.layer_sublayers(layer):
                continue
            sublayers = [
                (f"{prefix}{name}", sublayer)
                for name, sublayer in DOOR.layer_sublayers(layer).items()
                if sublayer is not None and id(sublayer) not in paths
            ]
            # One layer under several names goes by its first, as in named_sublayers.
            for path, sublayer in sublayers:
                paths.setdefault(id(sublayer), path)
            pending.extend((f"{path}.", sublayer) for path, sublayer in reversed(sublayers))
        return paths
