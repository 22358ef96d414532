"""Tapes: made-up traces of any size, and real traces of a 96-block GPT, for benchmarks.

``python benchmarks/tapes.py NAME FOLDER`` writes ``FOLDER/NAME.payload``, the packed bytes for a
view, and ``FOLDER/NAME.pltrace``, which ``paddle_lab.load`` opens. Without arguments it lists the
names. In a name, N is any number.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

# This file is run by its path: add the repository, which has the modules it needs, to the path.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.tape_models import SHAPES, chain, decoder, plain_blocks
from paddle_lab.api import Trace, load

NAMES = {
    "chain-N": "N ops in a row, each with a line of its own",
    "chain-N-backward": "the same with as many grad nodes",
    "residual-N": "N ops in residual blocks, no layers, with backward",
    "attention-N": "N ops in attention blocks that share one mask, no layers, with backward",
    "hub-N": "one tensor with N consumers, gathered by one op, with backward",
    "hub-chain-N": "a chain of N ops that all take the first one's tensor too, with backward",
    "nested-N": "regions N deep, with backward",
    "hierarchical-50000": "a decoder of 96 blocks with 22 experts each; one block is odd",
    "hierarchical-50000-own-masks": "the same, but no mask that goes to all blocks",
    "plain-blocks-50000": "50 blocks of 10 parts of 100 ops, forward alone, no tensor for all",
    "step-96": "a step of 96 blocks with 120 experts each: 100,000 ops, 250,000 graph nodes",
    "gpt-96": "the forward pass of a real GPT of 96 blocks (needs Paddle)",
    "gpt-96-step": "a training step of it (needs Paddle)",
}


def tape(name: str) -> Trace:
    """Return the trace of this name. If ``BENCH_TAPES`` names a folder, the trace is stored there.

    Raises
    ------
    KeyError
        If there is no tape of this name.
    """
    folder = os.environ.get("BENCH_TAPES")
    if not folder:
        return _made(name)
    file = Path(folder) / f"{name}.pltrace"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        _made(name).save(file)
    return load(file)


def _made(name: str) -> Trace:
    if name == "hierarchical-50000":
        return Trace(decoder(blocks=96, experts=22, odd=41).record())
    if name == "hierarchical-50000-own-masks":
        return Trace(decoder(blocks=96, experts=22, odd=41, has_one_mask=False).record())
    if name == "plain-blocks-50000":
        return Trace(plain_blocks(blocks=50, parts=10, ops=100, odd=11).record())
    if name == "step-96":
        return Trace(decoder(blocks=96, experts=120, odd=41).record())
    if name.startswith("gpt-"):
        from benchmarks.gpt import traced

        blocks, _, step = name.removeprefix("gpt-").partition("-")
        return traced(int(blocks), is_step=bool(step))
    if name.endswith("-backward"):
        return Trace(chain(_size(name.removesuffix("-backward")), is_trained=True).record())
    family, _, _ = name.rpartition("-")
    if family not in SHAPES:
        raise KeyError(f"there is no tape {name}; there are {', '.join(NAMES)}")
    return Trace(SHAPES[family](_size(name)).record())


def _size(name: str) -> int:
    return int(name.rpartition("-")[2])


def write(name: str, folder: Path) -> tuple[Path, Path]:
    """Write a tape as a view's payload and as a trace file; return both paths."""
    folder.mkdir(parents=True, exist_ok=True)
    trace = tape(name)
    payload = folder / f"{name}.payload"
    payload.write_bytes(trace.payload())
    return payload, trace.save(folder / f"{name}.pltrace")


def main() -> None:
    if len(sys.argv) != 3:
        print("\n".join(f"{name:20} {what}" for name, what in NAMES.items()))
        sys.exit(__doc__)
    for path in write(sys.argv[1], Path(sys.argv[2])):
        print(f"{path}  {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
