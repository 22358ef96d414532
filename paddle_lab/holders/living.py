"""The results of a search for living tensors: references, memory, and holders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from paddle_lab.holders.roots import Root

# Allocators round sizes up to a multiple of this. So a storage may be larger than its tensor.
ALIGNMENT_BYTES = 512
_KEPT_BY_NOTEBOOK = ("output", "traceback")


@dataclass(frozen=True)
class LivingTensor:
    """A reference to a living tensor.

    Parameters
    ----------
    kind
        A member of :data:`paddle_lab.trace.schema.HOLDER_KINDS`.
    name
        The path to the tensor: ``"cache.items[3]"``.
    root
        The root at which the path begins.
    address
        The address of the tensor's storage, which other tensors may share.
    storage_bytes
        The size of the storage.
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
    """Grad nodes that living tensors keep alive. They keep the tensors that they saved.

    Parameters
    ----------
    names
        The paths to the tensors from which these nodes are reached.
    nodes
        The addresses of the grad nodes, as in the table ``grad_nodes`` of a record.
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
        The size of the storage.
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
        """Whether only outputs and tracebacks that the notebook keeps hold the storage."""
        return not self.is_in_scope and all(
            tensor.root.kind in _KEPT_BY_NOTEBOOK for tensor in self.tensors
        )

    @property
    def is_in_scope(self) -> bool:
        """Whether a scope of a static program holds the storage. Paddle keeps such scopes."""
        return any(tensor.kind == "scope" for tensor in self.tensors)

    @property
    def is_viewed_only(self) -> bool:
        """Whether every tensor in the storage is smaller than it, such as a view of a part."""
        largest = max(tensor.bytes for tensor in self.tensors)
        return largest + ALIGNMENT_BYTES <= self.bytes


@dataclass
class Holder:
    """A name, and the storages that it keeps alive.

    Parameters
    ----------
    root
        The variable, kept output, traceback or module.
    storages
        The storages that the root keeps alive, except those of earlier holders.
    """

    root: Root
    storages: list[Storage] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        """The total size of the storages."""
        return sum(storage.bytes for storage in self.storages)

    @property
    def viewed_bytes(self) -> int:
        """The size of storages in which all tensors are views of only a part."""
        return sum(storage.bytes for storage in self.storages if storage.is_viewed_only)

    @property
    def is_notebooks_alone(self) -> bool:
        """Whether only outputs and tracebacks that the notebook keeps hold these storages."""
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
    """Return the holders of storages, the largest first. Each storage counts for one holder."""
    by_root: dict[tuple[str, str], Holder] = {}
    for storage in found:
        root = storage.tensors[0].root
        by_root.setdefault((root.kind, root.label), Holder(root)).storages.append(storage)
    return sorted(by_root.values(), key=lambda holder: -holder.bytes)


def releasable_bytes(found: Sequence[Storage]) -> int:
    """Return how many bytes are held only by outputs and tracebacks that the notebook keeps."""
    return sum(storage.bytes for storage in found if storage.is_notebooks_alone)
