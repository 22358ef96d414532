"""The path of the layer that runs, found once for each layer: the search walks its whole root."""

from __future__ import annotations

import weakref
from types import FrameType
from typing import Any

from paddle_lab.capture.running_layer import path_within, running_layers


class LayerPaths:
    """Remembers the paths of layers while their roots live."""

    def __init__(self) -> None:
        self._known: weakref.WeakKeyDictionary[Any, weakref.WeakKeyDictionary[Any, str]] = (
            weakref.WeakKeyDictionary()
        )

    def running(self, frame: FrameType) -> str:
        """Return the path of the layer that is running at a frame, within its root."""
        layers = running_layers(frame)
        if not layers:
            return ""
        layer, root = layers[0], layers[-1]
        known = self._known.setdefault(root, weakref.WeakKeyDictionary())
        if layer not in known:
            known[layer] = path_within(root, layer)
        return known[layer]
