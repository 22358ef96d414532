"""Numbers the names of ops, because the rows of ops contain numbers only."""

from __future__ import annotations

import threading


class OpNames:
    """The names seen in this process; :data:`OP_NAMES` is the only instance."""

    def __init__(self) -> None:
        self._keys: dict[str, int] = {}
        self._names: list[str] = []
        self._lock = threading.Lock()

    def key(self, name: str) -> int:
        """Return the number of a name. A new name gets the next number."""
        key = self._keys.get(name)
        if key is not None:
            return key
        with self._lock:
            if name not in self._keys:
                self._names.append(name)
                self._keys[name] = len(self._names) - 1
            return self._keys[name]

    def name(self, key: int) -> str:
        """Return the name with this number."""
        return self._names[key]


OP_NAMES = OpNames()
