"""Finds which grad node wrote an entry of Paddle's log, from the log itself."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

import numpy as np

from paddle_lab.capture.memory.attribution.backward_runs import nodes_of_calls
from paddle_lab.trace.grad_node_order import GradNodeOrder
from paddle_lab.trace.log_text import Int64s, LogEntries
from paddle_lab.trace.record import Record
from paddle_lab.trace.trees import grouped, taken

_NODE_BEGINS: Final = re.compile(r"\S+\(0x([0-9a-f]+)\) (?:Preparing|begin run)")
"""``SumGradNode(0x55d684f99330) Preparing``: the following entries belong to this node."""
_NODE_COPY: Final = re.compile(r"Copied Node: \S+ ptr: 0x([0-9a-f]+) to ptr: 0x([0-9a-f]+)")
"""paddle.grad runs copies of the nodes."""
_NODE_NAME: Final = re.compile(r"=Running_AD_API_GRAD: (\w+)_grad=")
"""The start of a node, if the log has no address: in the backward of a region."""
_BACKWARD_ENDS: Final = re.compile(r"=+RunBackward: Finish Backward")
_FILES: Final = ("backward.cc", "general_grad.h", "nodes.cc")
NO_NODE: Final = -1


class BackwardLog:
    """The entries that were written in backward calls.

    Parameters
    ----------
    record
        Its ops and backward graphs are complete.
    entries
        All entries of the log.
    time_ns
        When each entry was written, on the clock of the record's ops.
    regions_ns
        When the regions whose backward is logged began and ended, on the same clock.
    """

    def __init__(
        self,
        record: Record,
        entries: LogEntries,
        time_ns: Int64s,
        regions_ns: list[tuple[int, int]],
    ) -> None:
        self._record = record
        self._entries = entries
        self._time_ns = time_ns
        nodes = record.grad_nodes
        self.made_ns = np.where(nodes["op"] < 0, -1, taken(record.ops["start_ns"], nodes["op"]))
        """When the op of each grad node began; -1 for a leaf."""
        self.is_logged = np.zeros(len(nodes), np.bool_)
        """Which grad nodes were made in a region whose backward is logged."""
        for start, end in regions_ns:
            self.is_logged |= (self.made_ns >= start) & (self.made_ns < end)
        self._at: dict[int, list[tuple[int, int]]] = defaultdict(list)
        addresses = zip(nodes["address"].tolist(), self.made_ns.tolist(), strict=True)
        for row, (address, made_ns) in enumerate(addresses):
            self._at[address].append((made_ns, row))

    def nodes(self, call: Int64s) -> Int64s:
        """Return the grad node of each entry, -1 for none.

        Parameters
        ----------
        call
            The backward call during which each was written: a row of ``backward_calls``, or -1.
        """
        node = np.full(len(call), NO_NODE)
        for one, inside in grouped(call).items():
            begins = dict(self._begins(inside)) or dict(self._logged_begins(one, inside))
            positions = np.array([-1, *begins], np.int64)
            found = np.array([NO_NODE, *begins.values()], np.int64)
            node[inside] = found[np.searchsorted(positions, inside, side="right") - 1]
        return node

    def _begins(self, inside: Int64s) -> Iterator[tuple[int, int]]:
        """Yield the entries at which a grad node begins, and the node at the logged address."""
        copied: dict[int, int] = {}
        for entry in inside.tolist():
            if self._entries.file[entry] not in _FILES:
                continue
            text = self._entries.text[entry]
            if (copy := _NODE_COPY.match(text)) is not None:
                copied[int(copy[2], 16)] = int(copy[1], 16)
            elif (match := _NODE_BEGINS.match(text)) is not None:
                address = int(match[1], 16)
                yield entry, self._node_at(copied.get(address, address), self._time_ns[entry])
            elif _BACKWARD_ENDS.match(text):
                yield entry, NO_NODE

    def _node_at(self, address: int, time_ns: int) -> int:
        """Return the newest node with an address: Paddle reuses freed addresses."""
        made = [one for one in self._at.get(address, ()) if one[0] <= time_ns]
        return max(made)[1] if made else NO_NODE

    def _logged_begins(self, call: int, inside: Int64s) -> Iterator[tuple[int, int]]:
        """Yield the same pairs as ``_begins``, found by names and execution order of the nodes."""
        record = self._record
        names = [record.text(code) for code in record.grad_nodes["name"].tolist()]
        order = GradNodeOrder(names, record.grad_edges["source"], record.grad_edges["target"])
        roots = nodes_of_calls(record.grad_roots).get(call, [])
        wanted = nodes_of_calls(record.grad_targets).get(call)
        left = [node for node in order.replay(roots, wanted=wanted) if self.is_logged[node]]
        for entry in inside.tolist():
            match = _NODE_NAME.search(self._entries.text[entry])
            if match is not None:
                name = f"{match[1].replace('_', '')}gradnode"
                node = next((one for one in left if names[one].lower() == name), NO_NODE)
                if node != NO_NODE:
                    left.remove(node)
                yield entry, node
