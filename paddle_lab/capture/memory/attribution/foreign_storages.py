"""Storages that Paddle's allocator never handed out, and that its counter does not know.

Batches of a data loader's workers lie in memory that processes share, and tensors made by
``from_dlpack`` lie where the other library has put them. No event tells of their allocation, so
they look as if they were older than the trace. But Paddle's own blocks begin at a page.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paddle_lab.capture.memory.log.event_columns import CPU
from paddle_lab.capture.memory.log.events import AllocatorEvents
from paddle_lab.capture.memory.storages import Storage

_PAGE_BYTES = 4096
_LEAST_EVENTS = 4
"""Of fewer events it is chance what their addresses have in common."""


def paddles_own(storages: Sequence[Storage], events: AllocatorEvents) -> list[Storage]:
    """Return the storages that may be of Paddle's allocator.

    Parameters
    ----------
    storages
        Where tensors are stored.
    events
        The allocator's: their addresses tell at what all addresses of the host begin.
    """
    is_hosts = np.array([place == CPU for place in events.places], np.bool_)
    addresses = events.address[is_hosts[events.place]]
    if len(addresses) < _LEAST_EVENTS:
        return list(storages)
    common = int(np.bitwise_or.reduce(addresses)) | _PAGE_BYTES
    alignment_bytes = common & -common
    return [one for one in storages if one.place != CPU or one.address % alignment_bytes == 0]
