"""Layers and their paths, as in ``named_sublayers``."""

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
"""key, path in the root, class name, parent; a root has its call's location instead of a path."""


@dataclass
class _Root:
    """A layer that is not a sublayer of another one."""

    reference: weakref.ref[Any]
    paths: dict[int, str]
    """Paths of the root's sublayers, by ``id``."""


class LayerPool:
    """The layers that a trace has seen called, and the paths of their sublayers and tensors.

    A layer that is called inside another one is looked up among the sublayers of that layer's root.
    The name of a root is read from the source of its call after the trace: reading variables of the
    calling frame would keep them alive until the frame ends.
    """

    def __init__(self) -> None:
        self.rows: list[LayerRow] = []
        self.tensor_paths: dict[tuple[int, str], str] = {}
        """Maps each known parameter and buffer of a layer to its path in its root.

        A key is ``id`` and Paddle's name, because another object may get the ``id`` of an object
        that has died.
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
            Key of the layer whose call contains this call, or -1.
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
            # Search again, since the model may have got new sublayers.
            root.paths = self._index(root_layer)
        return root.paths.get(id(layer))

    def _index(self, root: Any) -> dict[int, str]:
        """Note the paths of all tensors in ``root``; return the paths of sublayers by ``id``.

        Paths are as in ``named_sublayers`` and ``named_parameters``, but this walk finds all of
        them at once: the two methods take longer than the traced forward pass.
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
            # A layer with several names gets the first one's path, as in named_sublayers.
            for path, sublayer in sublayers:
                paths.setdefault(id(sublayer), path)
            pending.extend((f"{path}.", sublayer) for path, sublayer in reversed(sublayers))
        return paths
