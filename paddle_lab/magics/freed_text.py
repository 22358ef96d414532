"""What ``%paddle_mem free`` says when it has let go."""

from __future__ import annotations

from collections.abc import Sequence

from paddle_lab.analysis.memory.sizes import size_text

_MOST_NAMES = 6


def freed_text(let_go: Sequence[str], *, by_letting_go_bytes: int, from_cycles_bytes: int) -> str:
    """Return in a sentence what came back, and by what.

    Parameters
    ----------
    let_go
        The names that were let go of, such as ``"Out[5]"``.
    by_letting_go_bytes
        What came back when they went.
    from_cycles_bytes
        What had come back before, by collecting cycles of references.
    """
    ways = []
    if let_go and by_letting_go_bytes > 0:
        ways.append((by_letting_go_bytes, f"by letting go of {_enumeration(let_go)}"))
    if from_cycles_bytes > 0:
        ways.append((from_cycles_bytes, "from reference cycles"))
    if len(ways) > 1:
        parts = ", ".join(f"{size_text(size)} {way}" for size, way in ways)
        return f"Freed {size_text(sum(size for size, _ in ways))}: {parts}."
    if ways:
        return f"Freed {size_text(ways[0][0])} {ways[0][1]}."
    if let_go:
        names = _enumeration(let_go)
        return f"Let go of {names}; nothing came back, as something else holds it."
    return "Nothing to free: no output or traceback holds a tensor that no variable does."


def _enumeration(names: Sequence[str]) -> str:
    names = list(dict.fromkeys(names))
    if len(names) > _MOST_NAMES:
        shown = _MOST_NAMES - 1
        names = [*names[:shown], f"{len(names) - shown} more"]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
