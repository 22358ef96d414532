"""``paddle_lab.deterministic()``: a block in which settings make two runs equal."""

from __future__ import annotations

import functools
import inspect
import os
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddle_lab.capture.availability import require_paddle
from paddle_lab.capture.rerun.contents import put_back, random_restores
from paddle_lab.capture.rerun.fill import flag_value
from paddle_lab.words import say

_FLAGS = {"FLAGS_cudnn_deterministic": 1, "FLAGS_embedding_deterministic": 1}
_AT_START = {"NVIDIA_TF32_OVERRIDE": "0", "NCCL_ALGO": "Tree"}
"""Environment variables that CUDA's libraries read when they start."""


@dataclass(frozen=True)
class Setting:
    """A setting that the block changes."""

    name: str
    value: str
    holds: str
    """When the setting takes effect, such as at once or when a process starts."""

    def __str__(self) -> str:
        return say("notices.holds.setting", name=self.name, value=self.value, holds=self.holds)


@contextmanager
def deterministic(seed: int) -> Iterator[list[Setting]]:
    """Set seeds, Paddle's flags, environment variables and DataLoader's defaults; restore all."""
    paddle: Any = require_paddle()
    generators = random_restores(paddle)
    flags = {name: value for name in _FLAGS if (value := flag_value(paddle, name)) is not None}
    environment = {name: os.environ.get(name) for name in (*_AT_START, *_FLAGS)}
    loader = paddle.io.DataLoader
    make = loader.__init__
    try:
        paddle.seed(seed)
        np.random.seed(seed % (1 << 32))
        random.seed(seed)
        paddle.set_flags({name: _FLAGS[name] for name in flags})
        os.environ.update(_AT_START, **{name: str(value) for name, value in _FLAGS.items()})
        loader.__init__ = _in_order(make)
        yield _settings(seed, flags)
    finally:
        loader.__init__ = make
        for name, value in environment.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        paddle.set_flags(flags)
        put_back(generators)


def _settings(seed: int, flags: Mapping[str, Any]) -> list[Setting]:
    now, for_loaders = say("notices.holds.now"), say("notices.holds.loaders")
    after_restart, no_gpu = say("notices.holds.restart"), say("notices.holds.no_gpu")
    return [
        Setting("paddle.seed, numpy.random.seed, random.seed", str(seed), now),
        Setting("DataLoader num_workers", "0", for_loaders),
        Setting("DataLoader shuffle", "False", for_loaders),
        *(Setting(name, value, after_restart) for name, value in _AT_START.items()),
        *(
            Setting(name, str(value), now if name in flags else no_gpu)
            for name, value in _FLAGS.items()
        ),
    ]


def _in_order(make: Any) -> Any:
    """Return DataLoader's ``__init__`` without workers and without shuffling."""
    signature = inspect.signature(make)

    @functools.wraps(make)
    def made_in_order(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.arguments["num_workers"] = 0
        if bound.arguments.get("shuffle"):
            bound.arguments["shuffle"] = False
        bound.arguments.pop("persistent_workers", None)  # there are no workers
        make(*bound.args, **bound.kwargs)

    return made_in_order
