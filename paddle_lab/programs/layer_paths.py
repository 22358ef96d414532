"""Finds the paths of layers in a model, from the paths of the parameters that their ops read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from paddle_lab.programs.program import Block


class Layer(NamedTuple):
    """A layer that a program calls."""

    path: str
    class_name: str


@lru_cache(maxsize=1 << 14)
def parts(name: str) -> tuple[str, ...]:
    """Return the layers around an op, the outermost first: ``/Block/Linear_1/`` has two."""
    return tuple(part for part in name.split("/") if part)


def layer_paths(block: Block, paths: Mapping[str, str]) -> dict[tuple[str, ...], Layer]:
    """Return the path and class of each layer call that the names of ops contain.

    Parameters
    ----------
    paths
        Maps Paddle's name of a parameter to its path in the model. Without paths, the path of a
        layer consists of Paddle's names, such as ``Block_1.Linear``.
    """
    parameter: dict[int, str] = {}
    reads: dict[str, list[list[str]]] = {}
    for op in block.walk():
        if op.is_parameter:
            parameter |= dict.fromkeys(op.outputs, paths.get(op.label, ""))
        read = reads.setdefault(op.layer, [])
        read += [path.split(".")[:-1] for key in op.inputs if (path := parameter.get(key))]
    owners: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for layer, read in reads.items():
        around = parts(layer)
        for depth in range(1, len(around) + 1):
            own = owners.setdefault(around[:depth], [])
            # Shorten the path of each parameter to the layer at this depth.
            own += [tuple(path[: len(path) - (len(around) - depth)]) for path in read]
    found: dict[tuple[str, ...], Layer] = {}
    for name, owned in owners.items():
        above = found[name[:-1]].path if len(name) > 1 else ""
        path = ".".join(_common(owned))
        if not path or path == above or not path.startswith(above):
            path = f"{above}.{name[-1]}" if above else name[-1]
        found[name] = Layer(path, re.sub(r"_\d+$", "", name[-1]))
    return found


def _common(paths: list[tuple[str, ...]]) -> tuple[str, ...]:
    names = takewhile(lambda names: len({*names}) == 1, zip(*paths, strict=False))
    return tuple(name for name, *_ in names)
