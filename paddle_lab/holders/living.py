"""What a search for living tensors found, as plain values."""

from __future__ import annotations

from dataclasses import dataclass

from paddle_lab.holders.roots import Root


@dataclass(frozen=True)
class LivingTensor:
    """One reference to a living tensor.

    Parameters
    ----------
    kind
        A member of :data:`paddle_lab.trace.schema.HOLDER_KINDS`.
    name
        The way to the tensor: ``"cache.items[3]"``.
    root
        Where that way begins.
    address
        Where the tensor's storage begins, which other tensors may share.
    storage_bytes
        Size of the storage.
    bytes
        Size of the tensor itself; a view has less than its storage.
    place
        ``"cpu"``, ``"gpu:0"``.
    """

    kind: str
    name: str
    root: Root
    address: int
    storage_bytes: int
    bytes: int
    place: str


@dataclass
class BackwardGraph:
    """Grad nodes that living tensors keep, with all that they saved for backward.

    Parameters
    ----------
    names
        The ways to the tensors that lead to these nodes.
    nodes
        Addresses of the grad nodes, as in ``grad_nodes`` of a record.
    """

    names: list[str]
    nodes: set[int]
