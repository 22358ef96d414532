"""The results of a search for living tensors: references, their memory, and its holders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from paddle_lab.holders.roots import Root

# Allocators round sizes up to a multiple of this, so a storage may exceed its tensor.
ALIGNMENT_BYTES = 512
_KEPT_BY_NOTEBOOK = ("output", "traceback")


@dataclass(frozen=True)
class LivingTensor:
    """One reference to a living tensor.

    Parameters
    ----------
    kind
        A member of :data:`paddle_lab.trace.schema.HOLDER_KINDS`.
    name
        The path to the tensor: ``"cache.items[3]"``.
    root
        The root at which the path begins.
    address
        Address of the tensor's storage, which other tensors may share.
    storage_bytes
        Size of the storage.
    bytes
        The size of the tensor itself. A view is smaller than its storage.
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
    """Grad nodes that living tensors keep alive, with all tensors that they saved for backward.

    Parameters
    ----------
    names
        The paths to the tensors from which these nodes are reached.
    nodes
        Addresses of the grad nodes, as in ``grad_nodes`` of a record.
    """

    names: list[str]
    nodes: set[int]


@dataclass
class Storage:
    """A block of memory that living tensors share.

    Parameters
    ----------
    address
        The address at which the storage begins.
    bytes
        Its size.
    place
        ``"cpu"``, ``"gpu:0"``.
    tensors
        The references to tensors in the storage, in the order in which they were found.
    """

    address: int
    bytes: int
    place: str
    tensors: list[LivingTensor] = field(default_factory=list)

    @property
    def is_notebooks_alone(self) -> bool:
        """Whether only kept outputs and tracebacks hold the storage, and no name of the user."""
        return not self.is_in_scope and all(
            tensor.root.kind in _KEPT_BY_NOTEBOOK for tensor in self.tensors
        )

    @property
    def is_in_scope(self) -> bool:
        """Whether a static program's scope, which Paddle keeps, holds the storage."""
        return any(tensor.kind == "scope" for tensor in self.tensors)

    @property
    def is_viewed_only(self) -> bool:
        """Whether every tensor in the storage is a view of only a part."""
        largest = max(tensor.bytes for tensor in self.tensors)
        return largest + ALIGNMENT_BYTES <= self.bytes


@dataclass
class Holder:
    """A name and what it keeps alive.

    Parameters
    ----------
    root
        The variable, kept output, traceback or module.
    storages
        The storages that the root keeps alive, without those of earlier holders.
    """

    root: Root
    storages: list[Storage] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        """The total size of the storages."""
        return sum(storage.bytes for storage in self.storages)

    @property
    def viewed_bytes(self) -> int:
        """How many bytes are kept by views that are smaller than their storage."""
        return sum(storage.bytes for storage in self.storages if storage.is_viewed_only)

    @property
    def is_notebooks_alone(self) -> bool:
        """Whether only kept outputs and tracebacks hold these storages."""
        return all(storage.is_notebooks_alone for storage in self.storages)


def storages(tensors: Iterable[LivingTensor]) -> list[Storage]:
    """Return the storages of tensors, the largest first."""
    found: dict[tuple[str, int], Storage] = {}
    for tensor in tensors:
        key = (tensor.place, tensor.address)
        storage = found.get(key)
        if storage is None:
            storage = found[key] = Storage(tensor.address, tensor.storage_bytes, tensor.place)
        storage.tensors.append(tensor)
    return sorted(found.values(), key=lambda storage: -storage.bytes)


def holders(found: Sequence[Storage]) -> list[Holder]:
    """Return the holders of storages, the largest first. A storage counts for its first holder."""
    by_root: dict[tuple[str, str], Holder] = {}
    for storage in found:
        root = storage.tensors[0].root
        by_root.setdefault((root.kind, root.label), Holder(root)).storages.append(storage)
    return sorted(by_root.values(), key=lambda holder: -holder.bytes)


def releasable_bytes(found: Sequence[Storage]) -> int:
    """Return how many bytes only kept outputs and tracebacks hold."""
    return sum(storage.bytes for storage in found if storage.is_notebooks_alone)
