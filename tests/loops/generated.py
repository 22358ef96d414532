"""Generated programs with calls and loops in each other."""

from __future__ import annotations

from random import Random

_MOST_OPS = 200


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.functions: dict[str, int] = {}
        """Functions that can be called, and how many ops a call may run."""
        self.ops = 0
        """How many ops the lines so far may run."""
        self.names = 0

    def value(self, times: int) -> str:
        """Return an expression that runs some times: an op, or calls of functions."""
        called = self.random.choice([*self.functions, ""])
        ops = 2 * times * (self.functions.get(called, 0) + 1)
        if not called or self.ops + ops > _MOST_OPS:
            self.ops += times
            return self.random.choice(
                [
                    "x + 1",
                    "linear(x)",
                    "paddle.abs(x)",
                    "paddle.nn.functional.normalize(x)",  # several ops from one place
                    "sum(map(paddle.abs, [x, x]))",
                ]
            )
        self.ops += ops
        return self.random.choice([
            f"{called}(x)",
            f"{called}({called}(x))",
            f"sum(map({called}, [x, x]))",
            f"sum([{called}(x) for _ in range(2)])",
            f"sum({called}(x + number) for number in (0.5, 1.5))",
            f"sum({called}(one) + 1 for one in numbers(x, 2))",
        ])  # fmt: skip

    def body(self, indent: int, times: int = 1) -> list[str]:
        """Return a few statements that run some times."""
        lines: list[str] = []
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.randrange(19) if indent < 4 and self.ops < _MOST_OPS else 0
            pad = "    " * indent
            self.names += 1
            name = f"n{self.names}"
            inner = self.body(indent + 1, 2 * times) if kind >= 5 else []
            if kind < 5:
                lines.append(f"{pad}x = {self.value(times)}")
            elif kind == 5:
                lines += [f"{pad}for {name} in range(2):", *inner]
            elif kind == 6:
                lines += [f"{pad}for {name} in (x, x + 1):", *inner]
            elif kind == 7:
                lines += [f"{pad}for _ in range(2):", *inner]
            elif kind == 8:
                lines += [f"{pad}for {name} in numbers(x, 2):", *inner]
            elif kind == 9:
                end = f"{pad}    if {name} > 1:"
                lines += [f"{pad}{name} = 0", f"{pad}while True:", *inner, f"{pad}    {name} += 1"]
                lines += [end, f"{pad}        break", f"{pad}    x = {self.value(times)}"]
            elif kind == 10:
                lines += [f"{pad}{name} = 0", f"{pad}while {name} < 2:", *inner]
                lines += [f"{pad}    {name} += 1", f"{pad}    x = {self.value(times)}"]
            elif kind == 11:
                lines += [f"{pad}with region({name!r}):", *inner]
            else:
                self.ops += 8 * times
                made = [f"{self.random.choice(_GENERATORS)}(x)" for _ in range(2)]
                lines += self.generators(kind, pad, name, made, inner)
        return lines

    def generators(
        self, kind: int, pad: str, name: str, made: list[str], inner: list[str]
    ) -> list[str]:
        """Return a loop over generators that also live before or after it."""
        leave = [f"{pad}    break", f"{pad}{name}s.close()"][: self.random.randrange(3)]
        if kind == 12:
            return [f"{pad}for {name}, other in zip({', '.join(made)}):", *inner, *leave[:1]]
        if kind == 13:  # one generator in two loops
            first = [f"{pad}{name}s = {made[0]}", f"{pad}for {name} in {name}s:", *inner]
            return [*first, *leave, f"{pad}for other in {name}s:", f"{pad}    x = x + other"]
        if kind == 14:
            head = [f"{pad}{name}s = {made[0]}", f"{pad}for {name} in range(2):", *inner]
            return [*head, f"{pad}    x = next({name}s, x) + next({name}s, x)", *leave]
        if kind == 15:
            return [f"{pad}for {name} in (one * 2 + 1 for one in {made[0]}):", *inner]
        if kind > 16:
            return [f"{pad}for {name} in {made[0]}:", *inner]
        call = f"next({name}s) + next({name}t, x)"
        head = [f"{pad}{name}s, {name}t = {', '.join(made)}", f"{pad}x = {call}"]
        return [
            *head,
            f"{pad}for {name} in {name}s:",
            *inner,
            f"{pad}    x = next({name}t, {name})",
        ]


_GENERATORS = ("halves", "pair", "outer", "passed")
_DEFINED = """\
def numbers(x, count):
    for at in range(count):
        yield x + at
def halves(x):
    left = [1, 2, 3]
    while left:
        x = x * 0.5
        yield x
        left.pop()
    x = x * 2
def pair(x):
    try:
        yield x * 2
        x = x + 1
        yield x * 3
    finally:
        x = x - 1
def outer(x):
    for inner in numbers(x, 3):
        yield inner * 2
        yield inner + 1
def passed(x):
    for each in range(2):
        yield from numbers(x, 2)
        x = x + each
"""


def program(seed: int) -> str:
    """Return the source of a program. It needs ``x``, ``linear``, ``region`` and ``paddle``."""
    writer = _Writer(seed)
    lines = _DEFINED.splitlines()
    for number in range(writer.random.randint(2, 4)):
        is_plain = writer.random.random() < 0.5
        writer.ops = 0
        body = [f"    x = {writer.value(2)}"] * 2 if is_plain else writer.body(1)
        lines += [f"def f{number}(x):", *body, "    return x"]
        writer.functions[f"f{number}"] = writer.ops
    writer.ops = 0
    return "\n".join([*lines, "for step in range(2):", *writer.body(1, 2)]) + "\n"
