"""Where Paddle's event objects keep what they tell, so that it can be read there.

Each event is a C++ object, and what Paddle offers makes a Python object of it and then one of each
of its attributes, which takes fifty times as long as to read them where they lie. The places are
learned from events that were asked both ways: only where an attribute always stood, and nothing
else did, is read later. Memory is copied for that without trusting that it is there, and what was
read is confirmed by some of the objects (``event_check.py``): otherwise what was learned is
forgotten. Where a system cannot copy memory like that, nothing is learned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from typing import Any

import numpy as np

from paddle_lab.capture.memory.event_columns import CPU, RESERVED_ALLOCATE
from paddle_lab.capture.native import NATIVE

_NODE_BYTES, _EVENT_BYTES = 768, 256
"""So much is looked at, more than there is of either."""
_WORD = 8
# So many nodes, and events of each, are asked both ways.
_NODES, _EVENTS = 128, 64
_TRIES = 32
"""So many recordings may teach; after that what is unknown stays so."""
# The first readings are confirmed, and after that every 16th.
_DOUBTED, _DOUBTED_AGAIN = 4, 16
_UNKNOWN = -1

_Stands = Callable[[bytes, Any], set[int]]


class Whereabouts:
    """Where one attribute stands, in bytes from where the object begins.

    Parameters
    ----------
    stands
        Returns where a value stands in an object's memory.
    lessons
        So many different values must have been found there.
    takes_first
        Whether the first of several places is right.
    """

    def __init__(self, stands: _Stands, lessons: int, *, takes_first: bool = False) -> None:
        self._stands = stands
        self._lessons = lessons
        self._takes_first = takes_first
        self._offsets: set[int] | None = None
        self._values: set[Any] = set()

    def learn(self, memory: bytes, value: Any) -> None:
        """Learn from an object's memory, and what it said of itself."""
        found = self._stands(memory, value)
        self._offsets = found if self._offsets is None else self._offsets & found
        if len(self._values) < self._lessons:
            self._values.add(value)

    @property
    def offset(self) -> int:
        """The place, or -1."""
        if not self._offsets or len(self._values) < self._lessons:
            return _UNKNOWN
        is_sure = self._takes_first or len(self._offsets) == 1
        return min(self._offsets) if is_sure else _UNKNOWN


class EventLayout:
    """What has been learned in this process: :data:`EVENT_LAYOUT`."""

    def __init__(self) -> None:
        self._tries = 0
        self.forget()

    def forget(self) -> None:
        """Forget everything, but not how often this was tried."""
        self._readings = 0
        self.children = Whereabouts(_pointers, 2)
        self.events = Whereabouts(_pointers, 1)
        self.name = Whereabouts(_text, 2)
        self.start_ns = Whereabouts(_whole, 4)
        self.end_ns = Whereabouts(_whole, 4)
        self.time_ns = Whereabouts(_whole, 4)
        self.address = Whereabouts(_whole, 4)
        self.change = Whereabouts(_whole, 2)
        self.allocated = Whereabouts(_whole, 4)
        self.kind = Whereabouts(_half, 2)
        self.place = Whereabouts(_text, 1)
        # Paddle tells the present value before the peak, which mostly is the same.
        self.reserved = Whereabouts(_whole, 2, takes_first=True)

    @property
    def knows_nodes(self) -> bool:
        """Whether a node's name, times and children can be read."""
        node = (self.children, self.name, self.start_ns, self.end_ns)
        return all(place.offset != _UNKNOWN for place in node)

    @property
    def knows_events(self) -> bool:
        """Whether an event of the host's memory can be read."""
        event = (self.events, self.time_ns, self.address, self.change, self.allocated, self.place)
        return all(place.offset != _UNKNOWN for place in event)

    @property
    def offsets(self) -> tuple[int, ...]:
        """All places, in the order in which the native reader takes them; -1 for unknown ones."""
        children = self.children.offset if self.knows_nodes else _UNKNOWN
        places = (
            self.events, self.name, self.start_ns, self.end_ns, self.time_ns, self.address,
            self.change, self.allocated, self.kind, self.place, self.reserved,
        )  # fmt: skip
        return children, *(place.offset for place in places)

    def is_doubted(self) -> bool:
        """Count a reading; tell whether to confirm it.

        Where attributes lie does not change while a process lives, and confirming takes longer than
        reading.
        """
        self._readings += 1
        return self._readings <= _DOUBTED or self._readings % _DOUBTED_AGAIN == 0

    def learn(self, trees: dict[int, Any]) -> None:
        """Learn from trees of events, by thread."""
        if NATIVE is None or self._tries >= _TRIES:
            return
        self._tries += 1
        for root in trees.values():
            for node in islice(_nodes(root), _NODES):
                self._learn_node(node, has_name=node is not root)

    def _learn_node(self, node: Any, *, has_name: bool) -> None:
        memory = _memory(node, _NODE_BYTES)
        children, events = node.children_node, node.mem_node
        if children:
            self.children.learn(memory, _addresses(children))
        if events:
            self.events.learn(memory, _addresses(events))
        if has_name:
            self.name.learn(memory, node.name)
            self.start_ns.learn(memory, node.start_ns)
            self.end_ns.learn(memory, node.end_ns)
        for event in events[:: len(events) // _EVENTS + 1]:
            self._learn_event(event)

    def _learn_event(self, event: Any) -> None:
        memory, place = _memory(event, _EVENT_BYTES), event.place
        self.time_ns.learn(memory, event.timestamp_ns)
        self.address.learn(memory, event.addr)
        self.change.learn(memory, event.increase_bytes)
        self.allocated.learn(memory, event.current_allocated)
        kind = int(event.type)
        self.kind.learn(memory, kind)
        self.place.learn(memory, place)
        if place != CPU or kind >= RESERVED_ALLOCATE:
            self.reserved.learn(memory, event.current_reserved)


def _nodes(root: Any) -> Iterator[Any]:
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(node.children_node)


def _memory(wrapped: Any, size: int) -> bytes:
    assert NATIVE is not None
    copied: bytes = NATIVE.copied_memory(NATIVE.held_address(wrapped), size)
    return copied[: len(copied) // _WORD * _WORD]


def _addresses(wrapped: list[Any]) -> tuple[int, ...]:
    assert NATIVE is not None
    return tuple(map(NATIVE.held_address, wrapped))


def _whole(memory: bytes, value: int) -> set[int]:
    """Return where a whole number of 64 bits stands."""
    words = np.frombuffer(memory, np.uint64)
    return set((np.flatnonzero(words == np.uint64(value % (1 << 64))) * _WORD).tolist())


def _half(memory: bytes, value: int) -> set[int]:
    """Return where a whole number of 32 bits stands."""
    halves = np.frombuffer(memory, np.uint32)
    return set((np.flatnonzero(halves == np.uint32(value)) * (_WORD // 2)).tolist())


def _text(memory: bytes, value: str) -> set[int]:
    """Return where a ``std::string`` stands: the address of its characters, and their number."""
    return _behind_pointers(memory, value.encode(), lambda _, second, size: second == size)


def _pointers(memory: bytes, value: tuple[int, ...]) -> set[int]:
    """Return where a ``std::vector`` of pointers stands: where they begin and where they end."""
    content = np.array(value, np.int64).tobytes()
    return _behind_pointers(memory, content, lambda first, second, size: second - first == size)


def _behind_pointers(
    memory: bytes, content: bytes, has_size: Callable[[int, int, int], bool]
) -> set[int]:
    """Return where a pointer to ``content`` stands, followed by a word that tells its size."""
    assert NATIVE is not None
    words = np.frombuffer(memory, np.int64).tolist()
    return {
        number * _WORD
        for number, (first, second) in enumerate(pairwise(words))
        if has_size(first, second, len(content))
        and NATIVE.copied_memory(first, len(content)) == content
    }


EVENT_LAYOUT = EventLayout()
