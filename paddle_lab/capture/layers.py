"""Which layer is which: paths as ``named_sublayers`` tells them, found without touching the model."""

from __future__ import annotations

import weakref
from itertools import count
from types import FrameType
from typing import Any

NO_LAYER = -1

LayerRow = tuple[int, str, str, int]
"""key, path, class name, parent layer's key."""


class LayerPool:
    """The layers a trace has seen called, and the paths of everything they hold.

    A layer called from inside another is looked up among that one's root's sublayers. A root's path
    is the name of the variable that holds it, where the calling frame has one, else its class.
    """

    def __init__(self) -> None:
        self.rows: list[LayerRow] = []
        self.tensor_paths: dict[int, str] = {}
        """``id`` of each parameter and buffer of a layer seen so far to its path in its root."""
        self._known: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._roots: dict[int, int] = {}
        self._sublayer_paths: dict[int, dict[int, str]] = {}
        self._references: dict[int, weakref.ref[Any]] = {}
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
            The frame that makes the call.
        """
        known = self._known.get(id(layer))
        if known is not None and known[0]() is layer:
            return known[1]
        return self._meet(layer, caller, frame)

    def _meet(self, layer: Any, caller: int, frame: FrameType | None) -> int:
        key = self._next_key()
        path = None
        root = key
        if caller != NO_LAYER:
            root = self._roots[caller]
            path = self._path_in(root, layer)
        if path is None:
            root = key
            path = variable_name(layer, frame) or type(layer).__name__
            self._index_tensors(layer)
        self._known[id(layer)] = (weakref.ref(layer), key)
        self._roots[key] = root
        if root == key:
            self._references[key] = weakref.ref(layer)
        self.rows.append((key, path, type(layer).__name__, caller))
        return key

    def _path_in(self, root: int, layer: Any) -> str | None:
        paths = self._sublayer_paths.get(root)
        if paths is None or id(layer) not in paths:
            root_layer = self._references[root]()
            if root_layer is None:
                return None
            # A second look: the model may have grown since the first.
            paths = {id(sublayer): path for path, sublayer in root_layer.named_sublayers()}
            self._sublayer_paths[root] = paths
            self._index_tensors(root_layer)
        return paths.get(id(layer))

    def _index_tensors(self, root: Any) -> None:
        for path, parameter in root.named_parameters():
            self.tensor_paths.setdefault(id(parameter), path)
        for path, buffer in root.named_buffers():
            self.tensor_paths.setdefault(id(buffer), path)


def variable_name(value: Any, frame: FrameType | None) -> str | None:
    """Return the name under which ``frame`` knows ``value``: a local, or an attribute of ``self``.

    Names that start with an underscore are passed over: notebooks keep results in ``_``, ``_1``.
    """
    if frame is None:
        return None
    for name, local in list(frame.f_locals.items()):
        if local is value and not name.startswith("_") and name != "self":
            return name
    for name, shared in list(frame.f_globals.items()):
        if shared is value and not name.startswith("_"):
            return name
    owner = frame.f_locals.get("self")
    for name, attribute in list(getattr(owner, "__dict__", {}).items()):
        if attribute is value:
            return str(name)
    return None
