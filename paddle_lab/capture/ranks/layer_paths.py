"""Finds the path of the running layer. Paths are kept, because a search walks the whole model."""

from __future__ import annotations

import weakref
from types import FrameType
from typing import Any

from paddle_lab.capture.running_layer import path_within, running_layers


class LayerPaths:
    """Keeps the path of each layer as long as the layer's outermost layer lives."""

    def __init__(self) -> None:
        self._known: weakref.WeakKeyDictionary[Any, weakref.WeakKeyDictionary[Any, str]] = (
            weakref.WeakKeyDictionary()
        )

    def running(self, frame: FrameType) -> str:
        """Return the path of the layer that is running at a frame, within the outermost layer."""
        layers = running_layers(frame)
        if not layers:
            return ""
        layer, root = layers[0], layers[-1]
        known = self._known.setdefault(root, weakref.WeakKeyDictionary())
        if layer not in known:
            known[layer] = path_within(root, layer)
        return known[layer]
