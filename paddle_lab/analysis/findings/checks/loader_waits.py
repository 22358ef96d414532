"""The cell waits for batches of a ``DataLoader`` during more than half of the time of its loop.

The finding tells the measured times, and the line of the dataset that took most of the time. The
advice depends on the loader's settings.

The check does not report waits of less than half a second in all, or loops of less than three
batches.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any, Final

from paddle_lab.analysis.findings.parts import Check, Facts, Found
from paddle_lab.words import Text, say

_LEAST_WAITED_NS: Final = 500_000_000
_LEAST_SHARE: Final = 0.5
_LEAST_BATCHES: Final = 3
_LEAST_SAMPLES: Final = 10


def find(facts: Facts) -> Iterator[Found]:
    """Yield the loops that wait for batches during more than half of their time."""
    for event in facts.events("loader_waits"):
        wait = json.loads(event.detail)
        elapsed_ns = max(wait["elapsed_ns"], 1)
        share = wait["waited_ns"] / elapsed_ns
        if (
            share <= _LEAST_SHARE
            or wait["waited_ns"] < _LEAST_WAITED_NS
            or wait["batches"] < _LEAST_BATCHES
        ):
            continue
        place = facts.place_of_stack(event.stack)
        message = say(
            "findings.loader-waits.found",
            place=place,
            waited=f"{wait['waited_ns'] / 1e9:.1f}",
            elapsed=f"{elapsed_ns / 1e9:.1f}",
            percent=round(100 * share),
            batches=wait["batches"],
            workers=wait["workers"],
        )
        yield Found(
            place=place, message=f"{message}{_slow(wait)}", severity="info", advice=_advice(wait)
        )


def _slow(wait: dict[str, Any]) -> str:
    if not wait["slow"] or wait["slow"][3] < _LEAST_SAMPLES:
        return ""
    file, line, share, samples, cell = wait["slow"]
    place = f"{os.path.basename(file)}:{line}"
    if cell >= 0:
        place = say("findings.place.cell", cell=cell, line=line)
    return say("findings.loader-waits.slow", place=place, percent=round(100 * share), n=samples)


def _advice(wait: dict[str, Any]) -> Text:
    if not wait["workers"]:
        return Text("findings.loader-waits.no_workers")
    if wait["iterators"] > 1 and wait["outer_ns"] > wait["waited_ns"] / 2:
        return Text("findings.loader-waits.restarts", n=wait["iterators"])
    if not wait["is_shared"]:
        return Text("findings.loader-waits.not_shared")
    return Text("findings.loader-waits.advice")


CHECK = Check(find, example="batches = iter(paddle.io.DataLoader(dataset))\nstep(next(batches))")
