"""Programs whose generators run ops, each with a ledger that counts its iterations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import paddle

from tests.loops.ledger import Ledger
from tests.loops.programs import program


def _batches(ledger: Ledger, count: int) -> Iterator[Any]:
    for i in range(count):
        with ledger.turn(f"i {i + 1}"):
            ledger.op(2)
            made = paddle.full([2], i) + 1
        yield made


@program
def two_generators_by_turns(ledger: Ledger) -> None:
    for _ in range(2):
        with ledger.turn(f"for _ in range(2) · {_ + 1}"):
            pairs = zip(_batches(ledger, 4), _batches(ledger, 3), strict=False)
            for pair, (one, other) in enumerate(pairs, start=1):
                with ledger.turn(f"pair {pair}"):
                    ledger.op(2)
                    (one + other).exp()


@program
def one_generator_in_two_loops(ledger: Ledger) -> None:
    made = _batches(ledger, 6)
    for number, batch in enumerate(made, start=1):
        with ledger.turn(f"number {number}"):
            ledger.op()
            batch.exp()
        if number == 2:
            break
    for later, batch in enumerate(made, start=1):
        with ledger.turn(f"later {later}"):
            ledger.op()
            batch.sin()


@program
def a_generator_asked_by_next(ledger: Ledger) -> None:
    made, others = _batches(ledger, 3), _batches(ledger, 6)
    for step in range(3):
        with ledger.turn(f"step {step + 1}"):
            batch = next(made)
            ledger.op()
            batch.exp()
            batch = next(others) + next(others)
            ledger.op(1)


@program
def a_generator_over_a_generator(ledger: Ledger) -> None:
    def scaled() -> Iterator[Any]:
        for part, made in enumerate(_batches(ledger, 3), start=1):
            with ledger.turn(f"part {part}"):
                ledger.op()
                made = made * 2  # noqa: PLW2901
            yield made
            yield made

    for number, batch in enumerate(scaled(), start=1):
        with ledger.turn(f"number {number}"):
            for twice in range(2):
                with ledger.turn(f"twice {twice + 1}"):
                    ledger.op()
                    batch.exp()


@program
def a_generator_that_passes_on_others(ledger: Ledger) -> None:
    def both() -> Iterator[Any]:
        yield from _batches(ledger, 2)
        ledger.op()
        yield paddle.ones([2])
        yield from _batches(ledger, 2)

    for number, batch in enumerate(both(), start=1):
        with ledger.turn(f"number {number}"):
            ledger.op()
            batch.exp()


@program
def a_generator_expression_in_a_loop(ledger: Ledger) -> None:
    ledger.op()
    x = paddle.ones([2])
    for epoch in range(2):
        with ledger.turn(f"epoch {epoch + 1}"):
            scaled = (x * count for count in range(1, 4))
            for number in range(1, 4):
                with ledger.turn(f"number {number}"):
                    with ledger.turn(f"count {number}"):
                        ledger.op()
                    batch = next(scaled)
                    ledger.op()
                    batch.exp()


@program
def a_generator_that_is_closed(ledger: Ledger) -> None:
    def endless() -> Iterator[Any]:
        turn = 0
        try:
            while True:
                turn += 1
                with ledger.turn(f"while True · {turn}"):
                    ledger.op()
                    made = paddle.full([2], turn)
                yield made
        finally:
            ledger.op()
            paddle.zeros([2])

    for epoch in range(2):
        with ledger.turn(f"epoch {epoch + 1}"):
            made = endless()
            for number, batch in enumerate(made, start=1):
                with ledger.turn(f"number {number}"):
                    ledger.op()
                    batch.exp()
                if number == 3:
                    break
            made.close()
