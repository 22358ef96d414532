"""Describes one of two compared traces by numbers. Equal ops have equal numbers in both traces."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.source.stacks import Frame
from paddle_lab.trace.distinct import Hashes, mixed
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ROLES, SCOPE_KINDS, TENSOR_KINDS
from paddle_lab.trace.table import StringPool
from paddle_lab.trace.trees import csr, depths, levels, taken

_LAYER, _TURN, _OPTIMIZER = map(SCOPE_KINDS.index, ("layer", "turn", "optimizer"))
_NONE = np.uint64(0)
_ESTIMATES, _STATISTICS = "use_global_stats=True", 3
"""An attribute of ``batch_norm``, and the first output that it then leaves unwritten."""

Places = tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]


class Side:
    """One trace, with its texts numbered as in the other trace.

    Parameters
    ----------
    record
        A record with answer tables.
    pool
        The texts of both traces.
    """

    def __init__(self, record: Record, pool: StringPool) -> None:
        self.record = record
        self.codes = np.array(pool.codes(record.strings), np.int64)
        """For each string of the record its number in the pool."""
        self.ops = record.ops
        self.name = self.codes[self.ops["name"]]
        self.attributes = self.codes[self.ops["attributes"]]
        self._pool = pool
        self._places: dict[str, Places] = {}

    def __len__(self) -> int:
        return len(self.ops)

    @cached_property
    def text(self) -> npt.NDArray[np.int64]:
        """The number of the source text of each op's line, shape ``[ops]``."""
        record = self.record
        frame = taken(record.stack_frames["frame"], self.ops["stack"])
        distinct, inverse = np.unique(frame, return_inverse=True)
        texts = [Frame(record, key).text if key >= 0 else "" for key in distinct.tolist()]
        return np.array(self._pool.codes(texts), np.int64)[inverse]

    def scope(self, *, is_strict: bool) -> Hashes:
        """Return a hash of each op's calls: of layers, functions, turns of loops.

        A strict hash contains the names of layers and the numbers of turns. Any other hash contains
        only the classes of layers, and no classes of optimizers.
        """
        record, scopes = self.record, self.record.scopes
        kind, layer = scopes["kind"].astype(np.int64), scopes["layer"]
        named = "path" if is_strict else "class"
        of_layer = np.append(self.codes[record.layers[named]], 0)[layer]
        turn = np.zeros(len(scopes), np.int64)
        turn[record.turns["scope"]] = record.turns["number"] if is_strict else 0
        label = np.where(kind == _LAYER, of_layer, self.codes[scopes["name"]])
        label[(kind == _TURN) | ((kind == _OPTIMIZER) & (not is_strict))] = 0
        found = np.zeros(len(scopes) + 1, np.uint64)
        for rows in levels(depths(scopes["parent"])) if len(scopes) else ():
            above = found[scopes["parent"][rows]]  # the row -1 is 0
            found[rows] = mixed(above, kind[rows], label[rows], turn[rows])
        of_ops: Hashes = found[self.ops["scope"]]
        return of_ops

    def used(self, of_tensor: npt.NDArray[Any], role: str = "output") -> Hashes:
        """Return a hash of the numbers of the tensors that an op returned, 0 if there is none."""
        op, place, tensor = self.places(role)
        found = np.zeros(len(self), np.uint64)
        np.add.at(found, op, mixed(of_tensor[tensor], place))
        return found

    def places(self, role: str) -> Places:
        """Return for each tensor that an op used: the op, the tensor's position, the tensor."""
        if role not in self._places:
            uses = self.record.uses
            is_asked = (uses["role"] == ROLES.index(role)) & (uses["tensor"] >= 0)
            starts, rows = csr(np.where(is_asked, uses["op"], -1), len(self))
            op = uses["op"][rows]
            self._places[role] = op, np.arange(len(rows)) - starts[op], uses["tensor"][rows]
        return self._places[role]

    @cached_property
    def shapes(self) -> Hashes:
        """A hash of the shapes of each op's outputs."""
        return self.used(self.codes[self.record.tensors["shape"]])

    @cached_property
    def dtypes(self) -> Hashes:
        """A hash of the dtypes of each op's outputs."""
        return self.used(self.codes[self.record.tensors["dtype"]])

    @cached_property
    def parameters(self) -> Hashes:
        """A hash of the paths of the parameters that each op read."""
        tensors = self.record.tensors
        is_parameter = tensors["kind"] == TENSOR_KINDS.index("parameter")
        return self.used(np.where(is_parameter, self.codes[tensors["path"]], 0), "input")

    @cached_property
    def stops(self) -> Hashes:
        """A hash of which outputs and inputs of each op need no gradient."""
        stops = self.record.tensors["stop_gradient"]
        return mixed(self.used(stops), self.used(stops, "input"))

    @cached_property
    def tensor_digests(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """The digest of each tensor's first value, and whether it has one."""
        record = self.record
        digests = record.value_digests
        found = np.zeros(len(record.tensors), np.int64)
        is_known = np.zeros(len(found), bool)
        tensor = record.value_stats["tensor"][digests["value_stat"]]
        found[tensor[::-1]], is_known[tensor] = digests["digest"][::-1], True
        is_known &= ~self._is_unwritten
        return np.where(is_known, found, 0), is_known

    @cached_property
    def stat_of_tensor(self) -> dict[int, int]:
        """The first row of ``value_stats`` of each tensor."""
        tensors, rows = np.unique(self.record.value_stats["tensor"], return_index=True)
        return dict(zip(tensors.tolist(), rows.tolist(), strict=True))

    @cached_property
    def is_fixed(self) -> npt.NDArray[np.bool_]:
        """Whether each tensor has one value at most: ``set_value`` did not overwrite it.

        Of any other tensor it is not known which value an op read.
        """
        count = len(self.record.tensors)
        fixed: npt.NDArray[np.bool_] = (
            np.bincount(self.record.value_stats["tensor"], minlength=count) <= 1
        )
        return fixed

    @cached_property
    def _is_unwritten(self) -> npt.NDArray[np.bool_]:
        """Whether each tensor is memory that nothing wrote.

        Such are the outputs of ``paddle.empty``, and the batch's statistics of a ``batch_norm``
        that uses the estimates instead.
        """
        op, place, tensor = self.places("output")
        is_empty = np.isin(self.name, self._pool.codes(["empty", "empty_like"]))
        texts = np.array([_ESTIMATES in text for text in self.record.strings], bool)
        uses_estimates = texts[self.ops["attributes"]]
        found = np.zeros(len(self.record.tensors), bool)
        found[tensor] = is_empty[op] | (uses_estimates[op] & (place >= _STATISTICS))
        return found

    def digests(self, role: str = "output") -> tuple[Hashes, Hashes]:
        """Return two hashes for each op: of its tensors' digests, and of which tensors have one.

        The second hash is 0 if none of the tensors has a digest. An op may return tensors without
        values: empty ones, and some that Paddle never fills.
        """
        digest, is_known = self.tensor_digests
        if role == "input":
            is_known = is_known & self.is_fixed
        op, _, tensor = self.places(role)
        known = np.bincount(op[is_known[tensor]], minlength=len(self))
        is_asked = ~self._is_unwritten[tensor] if role == "output" else np.ones(len(op), bool)
        has_some = (known > 0) | (np.bincount(op[is_asked], minlength=len(self)) == 0)
        which = mixed(self.used(is_known, role))
        return self.used(digest, role), np.where(has_some, which, _NONE)

    def tensors_of(self, op: int, role: str) -> list[int]:
        """Return the tensors of an op, in order."""
        starts, order = self.uses
        rows = order[starts[op] : starts[op + 1]]
        uses = self.record.uses
        keys: list[int] = uses["tensor"][rows[uses["role"][rows] == ROLES.index(role)]].tolist()
        return keys

    @cached_property
    def uses(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The rows of ``uses`` by op, from :func:`~paddle_lab.trace.trees.csr`."""
        return csr(self.record.uses["op"], len(self))

    @property
    def decimals(self) -> int | None:
        """To how many decimals values were rounded for digests; ``None`` without digests."""
        decimals = self.record.value_digests["decimals"]
        return int(decimals[0]) if len(decimals) else None
