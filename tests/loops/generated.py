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
        ])  # fmt: skip

    def body(self, indent: int, times: int = 1) -> list[str]:
        """Return a few statements that run some times."""
        lines: list[str] = []
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.randrange(12) if indent < 4 and self.ops < _MOST_OPS else 0
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
            else:
                lines += [f"{pad}with region({name!r}):", *inner]
        return lines


def program(seed: int) -> str:
    """Return the source of a program. It needs ``x``, ``linear``, ``region`` and ``paddle``."""
    writer = _Writer(seed)
    lines = ["def numbers(x, count):", "    for at in range(count):", "        yield x + at"]
    for number in range(writer.random.randint(2, 4)):
        is_plain = writer.random.random() < 0.5
        writer.ops = 0
        body = [f"    x = {writer.value(2)}"] * 2 if is_plain else writer.body(1)
        lines += [f"def f{number}(x):", *body, "    return x"]
        writer.functions[f"f{number}"] = writer.ops
    writer.ops = 0
    return "\n".join([*lines, "for step in range(2):", *writer.body(1, 2)]) + "\n"
