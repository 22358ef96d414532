"""The random generators of a process, and the counters behind Paddle's names."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from paddle_lab.capture.door import DOOR


class RandomState:
    """Where Paddle's, NumPy's and Python's generators stood in one moment.

    Parameters
    ----------
    paddle
        The paddle module.
    """

    def __init__(self, paddle: Any) -> None:
        self._paddle = paddle
        self._of_python = random.getstate()
        self._of_numpy = np.random.get_state()
        self._of_devices = paddle.get_rng_state()
        self._of_cpu: Any = None
        self._names: dict[str, int] = {}
        if DOOR.has("random_state"):
            self._of_cpu = DOOR.default_cpu_generator().get_state()
            self._names = dict(DOOR.name_generator.ids)

    def put_back(self) -> None:
        """Let all generators go on from there."""
        random.setstate(self._of_python)
        np.random.set_state(self._of_numpy)
        self._paddle.set_rng_state(self._of_devices)
        if DOOR.has("random_state"):
            DOOR.default_cpu_generator().set_state(self._of_cpu)
            # Parameters made in a second run would shift the names of all that come later.
            counters = DOOR.name_generator.ids
            counters.clear()
            counters.update(self._names)
