"""The owners of all blocks: the op, the layer and the line of each, as arrays."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from paddle_lab.analysis.graph.scopes import layers_of_scopes
from paddle_lab.analysis.tables.ops import OpTable
from paddle_lab.trace.record import Record
from paddle_lab.trace.trees import Keys, taken


class Attribution:
    """Arrays that all answers about memory use. Each array is computed on first use.

    Parameters
    ----------
    record
        A record with answer tables.
    """

    def __init__(self, record: Record) -> None:
        self.record = record

    @cached_property
    def ops(self) -> OpTable:
        """The record's ops."""
        return OpTable(self.record)

    @cached_property
    def frames(self) -> Keys:
        """The frame to show for each block, int32, shape ``[allocations]``; -1 for none.

        It comes from the stack that allocated the block, otherwise from the op. In backward, this
        is the line of the forward op.
        """
        record = self.record
        frames = record.stack_frames["frame"]
        by_stack = taken(frames, record.allocations["stack"])
        by_op = taken(taken(frames, record.ops["stack"]), record.allocations["op"])
        return np.where(by_stack >= 0, by_stack, by_op).astype(np.int32)

    @cached_property
    def lines(self) -> Keys:
        """The first frame on the line of each block, int32, shape ``[allocations]``."""
        frames = self.record.frames
        if not len(frames):
            return np.full(len(self.record.allocations), -1, np.int32)
        place = np.stack([frames["file"], frames["cell"], frames["line"]], axis=1)
        _, first, line = np.unique(place, axis=0, return_index=True, return_inverse=True)
        return taken(first[line.ravel()], self.frames)

    @cached_property
    def layers(self) -> Keys:
        """The layer of each block, as a position in ``strings``; int32, shape ``[allocations]``."""
        record, blocks = self.record, self.record.allocations
        layers = layers_of_scopes(record)
        # In backward, the scope is the backward call, so the layer comes from the op.
        layer = taken(taken(layers, record.ops["scope"]), blocks["op"])
        layer = np.where(layer >= 0, layer, taken(layers, blocks["scope"]))
        owner = np.zeros(len(record.tensors) + 1, np.int32)
        owner[record.tensor_layers["tensor"]] = record.tensor_layers["name"]
        name = taken(record.layer_names["name"], layer)
        return np.where(layer >= 0, name, owner[blocks["tensor"]]).astype(np.int32)
