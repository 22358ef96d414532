"""The allocator events of a recording as columns of integers, and how places are numbered."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from typing_extensions import Self


CPU = "Place(cpu)"
PINNED = "Place(gpu_pinned)"
"""Pinned memory of the host, which a device can read. Paddle counts it as the host's memory."""
HOST = 0
"""The number of the host's memory."""


class Places:
    """The places seen in this process; :data:`PLACES` is the only instance."""

    def __init__(self) -> None:
        self._numbers = {CPU: HOST, PINNED: HOST}
        self._names = ["cpu"]
        self._lock = threading.Lock()

    def number(self, place: str) -> int:
        """Return the number of a place, such as ``"Place(gpu:0)"``."""
        with self._lock:
            if place not in self._numbers:
                self._numbers[place] = len(self._names)
                self._names.append(place.removeprefix("Place(").removesuffix(")"))
            return self._numbers[place]

    def name(self, number: int) -> str:
        """Return the name of a place in records, such as ``"gpu:0"``."""
        return self._names[number]


PLACES = Places()


Int64s = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

ALLOCATE, FREE, RESERVED_ALLOCATE, RESERVED_FREE = range(4)
"""Values of Paddle's ``TracerMemEventType``."""
NOT_READ = -1
"""The value of a counter that was not read."""


class Columns:
    """A base class for dataclasses whose fields are arrays of the same length."""

    def __len__(self) -> int:
        return len(next(iter(vars(self).values())))

    def chosen(self, rows: Int64s | Mask) -> Self:
        """Return the given rows."""
        kind: Any = type(self)
        found: Self = kind(*(column[rows] for column in vars(self).values()))
        return found

    @classmethod
    def joined(cls, parts: Iterable[Self]) -> Self:
        """Return the rows of all parts, one part after the other."""
        kind: Any = cls
        nothing = [np.empty(0, np.int64)] * len(fields(kind))
        columns = zip(nothing, *(vars(part).values() for part in parts), strict=True)
        found: Self = kind(*map(np.concatenate, columns))
        return found


@dataclass
class AllocatorEvents(Columns):
    """Every change of allocated or reserved memory, by time; arrays of shape ``[events]``."""

    time_ns: Int64s
    """On the clock of ``perf_counter_ns``, in the order of Paddle's counter."""
    kind: Int64s
    address: Int64s
    bytes: Int64s
    """Always positive, whether allocated or freed."""
    allocated_bytes: Int64s
    """Paddle's counter after the event, for all memory in the place; or ``NOT_READ``."""
    reserved_bytes: Int64s
    place: Int64s
    """A number of :data:`~paddle_lab.capture.memory.log.events.PLACES`."""
    thread: Int64s
    """The operating system's thread id."""
    segment: Int64s
    """The segment that contains the event."""
    late_ns: Int64s
    """How much later the event's own thread took the time: not 0 only if the event was moved."""


COLUMNS = tuple(field.name for field in fields(AllocatorEvents))


@dataclass
class GradNodeRuns(Columns):
    """The grad nodes that ran, by start; arrays of shape ``[runs]``."""

    names: npt.NDArray[np.object_]
    start_ns: Int64s
    """On the clock of ``perf_counter_ns``."""
    end_ns: Int64s
    thread: Int64s
    """The operating system's thread id."""


@dataclass
class KernelCalls(Columns):
    """Paddle's calls of its kernels, arrays of shape ``[calls]``.

    On the CPU the kernel runs during the call; on a device the call only launches it.
    """

    start_ns: Int64s
    """On the clock of ``perf_counter_ns``."""
    end_ns: Int64s
    thread: Int64s
    """The operating system's thread id."""


@dataclass
class DeviceKernels(Columns):
    """The kernels that ran on a device, arrays of shape ``[kernels]``."""

    launch_ns: Int64s
    """When the host launched the kernel, on the clock of ``perf_counter_ns``."""
    thread: Int64s
    """The operating system's id of the thread that launched the kernel."""
    duration_ns: Int64s
    gap_ns: Int64s
    """How long the device had been idle, without kernel or copy, when the kernel began."""


class EventTable(NamedTuple):
    """The events of one recording."""

    events: Int64s
    """Allocator events, shape ``[events, columns]``."""
    runs: GradNodeRuns
    calls: KernelCalls
    on_device: DeviceKernels
