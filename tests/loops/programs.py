"""Programs with loops, each with a ledger that counts its iterations.

They are written as people write them. ``ledger.op()`` comes before every op; every body begins
with ``ledger.turn(…)``, which has the label that the iteration's group must have.
"""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import paddle
from paddle import nn
from paddle.autograd import PyLayer

from tests.loops.ledger import Ledger

Program = Callable[[Ledger], Any]
PROGRAMS: dict[str, Program] = {}


def program(function: Program) -> Program:
    """Register a program."""
    PROGRAMS[function.__name__] = function
    return function


def twice(ledger: Ledger, x: Any) -> Any:
    ledger.op()
    return x * 2


@program
def epochs_with_validation(ledger: Ledger) -> None:
    ledger.op()
    x = paddle.ones([2])
    for epoch in range(2):
        with ledger.turn(f"epoch {epoch + 1}"):
            for step in range(3):
                with ledger.turn(f"step {step + 1}"):
                    ledger.op()
                    x = x + 1
            with paddle.no_grad():
                ledger.op(2)
                (x * 2).sum()
    ledger.op()
    x.mean()


@program
def epochs_without_anything_between(ledger: Ledger) -> None:
    x = paddle.ones([2])
    ledger.op()
    for epoch in range(3):
        with ledger.turn(f"epoch {epoch + 1}"):
            for step in range(2):
                with ledger.turn(f"step {step + 1}"):
                    x = twice(ledger, x)


@program
def batches_that_are_no_numbers(ledger: Ledger) -> None:
    batches = [paddle.ones([2]) for _ in range(3)]
    for _ in range(3):
        pass
    ledger.ops += [(f"for _ in range(3) · {turn}",) for turn in (1, 2, 3)]
    for epoch in (1, 2):
        with ledger.turn(f"epoch {epoch}"):
            for turn, batch in enumerate(batches):
                with ledger.turn(f"turn {turn + 1}"):
                    ledger.op()
                    batch.exp()


@program
def equal_batches_again_and_again(ledger: Ledger) -> None:
    ledger.op()
    batch = paddle.ones([2])
    turn = 0
    for x in [batch, batch, batch]:
        turn += 1
        with ledger.turn(f"x {turn}"):
            ledger.op(2)
            (x + 1).sin()
            ledger.op()
            x.cos()


@program
def a_while_with_a_counter(ledger: Ledger) -> None:
    ledger.op()
    x = paddle.ones([2])
    i = 0
    while i < 4:
        with ledger.turn(f"while i < 4 · {i + 1}"):
            ledger.op()
            x = x + 1
        i += 1


@program
def a_while_that_skips_turns(ledger: Ledger) -> None:
    ledger.op()
    x = paddle.ones([2])
    i = 0
    while i < 6:
        i += 1
        if i % 2:
            continue
        with ledger.turn(f"while i < 6 · {i}"):
            ledger.op()
            x = x + 1


@program
def a_while_whose_condition_is_computed(ledger: Ledger) -> None:
    ledger.op()
    x = paddle.ones([2])
    turn = 1
    with ledger.turn("while x.sum() < 10 · 1"):
        ledger.op(2)
    while x.sum() < 10:
        with ledger.turn(f"while x.sum() < 10 · {turn}"):
            ledger.op()
            x = x * 2
        turn += 1
        if turn < 4:
            with ledger.turn(f"while x.sum() < 10 · {turn}"):
                ledger.op(2)
    # The condition is computed once more, and no iteration follows.
    ledger.op(2)


@program
def whiles_that_count_by_floats_and_tensors(ledger: Ledger) -> None:
    ledger.op()
    x = paddle.ones([2])
    left = 3.0
    while left > 0:
        with ledger.turn(f"while left > 0 · {4 - int(left)}"):
            ledger.op()
            y = x * 2
            left -= 1
            ledger.op()
            y.exp()
    ledger.op()
    done = paddle.zeros([1])
    turns = itertools.count(1)
    while True:
        with ledger.turn(f"while True · {next(turns)}"):
            ledger.op(4)
            y = x * 2
            done += 1
            y.exp()
            if done > 1:
                break


@program
def a_while_true_that_counts_and_skips_turns(ledger: Ledger) -> None:
    ledger.op()
    x = paddle.ones([2])
    left = 4
    while True:
        left -= 1
        if left == 2:
            continue
        with ledger.turn(f"while True · {4 - left}"):
            ledger.op()
            x = x * left
        if left == 0:
            break


@program
def a_while_true_over_an_iterator(ledger: Ledger) -> None:
    ledger.op()
    batch = paddle.ones([2])
    batches = iter([batch, batch, batch])
    turns = itertools.count(1)
    while True:
        try:
            batch = next(batches)
        except StopIteration:
            break
        with ledger.turn(f"while True · {next(turns)}"):
            ledger.op()
            batch.sum()


@program
def a_while_true_with_break(ledger: Ledger) -> None:
    ledger.op()
    x = paddle.ones([2])
    turn = 0
    while True:
        turn += 1
        with ledger.turn(f"while True · {turn}"):
            ledger.op()
            x = x * 2
            ledger.op()
            y = x + 1
        if turn == 3:
            break
    ledger.op()
    y.sum()


@program
def a_while_around_a_for(ledger: Ledger) -> None:
    ledger.op(2)
    batches = paddle.ones([2]), paddle.zeros([2])
    rounds = 0
    while True:
        with ledger.turn(f"while True · {rounds + 1}"):
            seen = 0
            for x in batches:
                seen += 1
                with ledger.turn(f"x {seen}"):
                    ledger.op()
                    x.exp()
        rounds += 1
        if rounds == 3:
            break


@program
def continue_and_break(ledger: Ledger) -> None:
    ledger.op()
    x = paddle.ones([2])
    for i in range(10):
        if i % 3 == 1:
            continue
        if i > 6:
            break
        with ledger.turn(f"i {i + 1}"):
            ledger.op()
            x = x + i


@program
def a_range_from_elsewhere(ledger: Ledger) -> None:
    ledger.op()
    x = paddle.ones([2])
    for i in range(10, 0, -3):
        with ledger.turn(f"i {(10 - i) // 3 + 1}"):
            ledger.op()
            x = x + i
    for j in range(2, 8, 2):
        if j == 2:
            continue
        with ledger.turn(f"j {j // 2}"):
            ledger.op()
            x = x * j


@program
def comprehensions(ledger: Ledger) -> None:
    ledger.op()
    x = paddle.ones([2])
    ledger.ops += [(f"scale {turn}",) for turn in (1, 2, 3)]
    scaled = [x * scale for scale in (0.1, 0.2, 0.3)]
    ledger.ops += [(f"i {turn}",) for turn in (1, 2)]
    named = {str(i): scaled[i] + 1 for i in range(2)}
    ledger.ops += [(f"row {row}", f"column {column}") for row in (1, 2) for column in (1, 2, 3)]
    grid = [x + row * column for row in range(2) for column in range(3)]
    ledger.op()
    paddle.stack(grid + list(named.values()))


@program
def a_comprehension_in_a_comprehension(ledger: Ledger) -> None:
    ledger.op()
    x = paddle.ones([2])
    ledger.ops += [(f"row {row}", f"column {column}") for row in (1, 2) for column in (1, 2, 3)]
    [[x + row * column for column in range(3)] for row in range(2)]
    ledger.ops += [(f"i {i}", f"k {k}") for i in (1, 2, 3) for k in (1, 2)]
    [
        sum(
            float(x[k])  # the comprehensions begin on lines of their own
            for k in range(2)
        )
        for i in range(3)
    ]


@program
def nested_loops_with_one_variable(ledger: Ledger) -> None:
    ledger.op()
    x = paddle.ones([2])
    pairs = [(f"i {outer}", f"i {inner}") for outer in (1, 2, 3) for inner in (1, 2)]
    ledger.ops += pairs
    for i in range(3):
        for i in range(2):
            x = x + i
    ledger.ops += pairs
    [x + i for i in range(3) for i in range(2)]
    ledger.ops += [(f"for _ in range(3) · {turn}", _ONLY) for turn in (1, 2, 3)]
    for _ in range(3):
        for _ in range(1):
            x = x * 2
    ledger.ops += [(f"i {outer}", "i 2") for outer in (1, 2, 3)]
    for i in range(3):
        for i in range(2):
            if i == 1:
                x = x - i
    # Nothing shows when this inner loop begins again.
    ledger.op(4)
    for name in "ab":
        for name in "cd":
            x = x * len(name)


_ONLY = "for _ in range(1) · 1"


@program
def a_comprehension_in_a_loop(ledger: Ledger) -> None:
    ledger.op()
    x = paddle.ones([2])
    for epoch in range(2):
        with ledger.turn(f"epoch {epoch + 1}"):
            ledger.ops += [(f"epoch {epoch + 1}", f"k {turn}") for turn in (1, 2, 3)]
            parts = [x * k for k in range(3)]
            ledger.op()
            x = paddle.add_n(parts)


@program
def a_sum_over_a_generator_expression(ledger: Ledger) -> None:
    ledger.op(2)
    parts = [paddle.ones([2]), paddle.zeros([2])]
    for step in range(2):
        with ledger.turn(f"step {step + 1}"):
            for turn in (1, 2):
                with ledger.turn(f"part {turn}"):
                    ledger.op(2)  # square, sum
                ledger.op()  # the addition
            sum(part.square().sum() for part in parts)


@program
def a_generator(ledger: Ledger) -> None:
    def batches(count: int) -> Iterator[Any]:
        for i in range(count):
            with ledger.turn(f"i {i + 1}"):
                ledger.op()
                made = paddle.full([2], i)
            yield made

    for number, batch in enumerate(batches(3), start=1):
        with ledger.turn(f"number {number}"):
            ledger.op()
            batch.exp()
            ledger.op()
            batch.sin()


@program
def a_generator_in_epochs(ledger: Ledger) -> None:
    def batches() -> Iterator[Any]:
        for i in range(2):
            with ledger.turn(f"i {i + 1}"):
                ledger.op()
                made = paddle.full([2], i)
            yield made

    for epoch in range(3):
        with ledger.turn(f"epoch {epoch + 1}"):
            for number, batch in enumerate(batches(), start=1):
                with ledger.turn(f"number {number}"):
                    ledger.op()
                    batch.exp()


@program
def recursion(ledger: Ledger) -> None:
    def grow(x: Any, depth: int) -> Any:
        if depth == 0:
            return x
        for branch in range(2):
            with ledger.turn(f"branch {branch + 1}"):
                ledger.op()
                x = x + branch
                x = grow(x, depth - 1)
        return x

    ledger.op()
    grow(paddle.ones([2]), 3)


@program
def functions_called_in_loops(ledger: Ledger) -> None:
    def train(x: Any) -> Any:
        for step in range(2):
            with ledger.turn(f"step {step + 1}"):
                x = twice(ledger, x)
                x = twice(ledger, x)
        return x

    def validate(x: Any) -> Any:
        ledger.op()
        return x.sum()

    ledger.op()
    x = paddle.ones([2])
    for epoch in range(2):
        with ledger.turn(f"epoch {epoch + 1}"):
            x = train(x)
            validate(x)


@program
def a_while_around_a_function_with_a_loop(ledger: Ledger) -> None:
    def train(x: Any) -> Any:
        seen = 0
        for batch in [x, x + 0.5]:
            seen += 1
            with ledger.turn(f"batch {seen}"):
                x = twice(ledger, batch)
        return x

    ledger.op()
    x = paddle.ones([2])
    rounds = 0
    while not rounds > 2:
        rounds = rounds + 1
        with ledger.turn(f"while not rounds > 2 · {rounds}"):
            ledger.op()
            x = train(x)


@program
def zip_and_items(ledger: Ledger) -> None:
    ledger.op(2)
    xs = [paddle.ones([2]), paddle.zeros([2])]
    for turn, (x, scale) in enumerate(zip(xs, (2, 3), strict=True)):
        with ledger.turn(f"turn {turn + 1}"):
            ledger.op()
            x * scale
    turn = 0
    for x, scale in zip(xs, (2, 3), strict=True):
        turn += 1
        with ledger.turn(f"x, scale {turn}"):
            ledger.op()
            x * scale
    turn = 0
    for name, x in {"a": xs[0], "b": xs[1]}.items():
        turn += 1
        with ledger.turn(f"name, x {turn}"):
            ledger.op()
            x + len(name)


@program
def a_variable_that_the_body_assigns(ledger: Ledger) -> None:
    ledger.op(2)
    turn = 0
    for x in [paddle.ones([2]), paddle.zeros([2])]:
        turn += 1
        with ledger.turn(f"x {turn}"):
            ledger.op()
            x = x * 2
            ledger.op()
            x = x + 1
            ledger.op()
            x = x.exp()


@program
def try_and_except(ledger: Ledger) -> None:
    ledger.op()
    x = paddle.ones([2])
    for i in range(4):
        with ledger.turn(f"i {i + 1}"):
            try:
                ledger.op()
                x = x + 1
                if i % 2:
                    raise ValueError
                ledger.op()
                x = x * 2
            except ValueError:
                ledger.op()
                x = x - 1
            finally:
                ledger.op()
                x = x.abs()


@program
def branches(ledger: Ledger) -> None:
    ledger.op()
    x = paddle.ones([2])
    for i in range(4):
        with ledger.turn(f"i {i + 1}"):
            if i % 2 == 0:
                ledger.op()
                x = x + 1
            else:
                ledger.op()
                x = x * 2


@program
def else_of_loops(ledger: Ledger) -> None:
    ledger.op()
    x = paddle.ones([2])
    for i in range(2):
        with ledger.turn(f"i {i + 1}"):
            ledger.op()
            x = x + 1
    else:
        ledger.op()
        x = x * 3
    ledger.op()
    x.sum()


@program
def two_loops_one_after_the_other(ledger: Ledger) -> None:
    ledger.op()
    x = paddle.ones([2])
    for i in range(2):
        with ledger.turn(f"i {i + 1}"):
            ledger.op()
            x = x + 1
    for i in range(3):
        with ledger.turn(f"i {i + 1}"):
            ledger.op()
            x = x * 2


# fmt: off
@program
def one_line_loops(ledger: Ledger) -> None:
    ledger.op()
    x = paddle.ones([2])
    ledger.ops += [(f"i {turn}",) for turn in (1, 2, 3)]
    for i in range(3): x = x + i
    ledger.ops += [("while float(x[0]) < 9 · 1",), ("while float(x[0]) < 9 · 1",)]
    ledger.ops += [("while float(x[0]) < 9 · 2",), ("while float(x[0]) < 9 · 2",), ()]
    while float(x[0]) < 9: x = x + 3
# fmt: on


@program
def infinite_iterators(ledger: Ledger) -> None:
    ledger.op()
    x = paddle.ones([2])
    for step in itertools.count(1):
        with ledger.turn(f"step {step}"):
            ledger.op()
            x = x + 1
        if step == 3:
            break
    turn = 0
    for _ in itertools.repeat(None, 3):
        turn += 1
        with ledger.turn(f"for _ in itertools.repeat(None, 3) · {turn}"):
            ledger.op()
            x = x * 2
            ledger.op()
            x = x - 1


class Decoder(nn.Layer):
    """A layer that decodes step by step."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__()
        self.cell = nn.Linear(4, 4)
        self.out = nn.Linear(4, 4)
        self.ledger = ledger

    def forward(self, x: Any) -> Any:
        ledger, outs = self.ledger, []
        ledger.op()
        h = x.mean(0)
        for t in range(5):
            with ledger.turn(f"t {t + 1}"):
                ledger.op()
                h = h + 1
                ledger.op(1)
                h = self.cell(h)
                ledger.op(1)
                outs.append(self.out(h))
        ledger.op()
        return paddle.stack(outs)


@program
def a_decoder(ledger: Ledger) -> None:
    ledger.op(4)
    decoder = Decoder(ledger)
    ledger.op()
    x = paddle.ones([5, 4])
    for step in range(2):
        with ledger.turn(f"step {step + 1}"):
            decoder(x)


@program
def a_training_loop(ledger: Ledger) -> None:
    ledger.op(2)
    net = nn.Linear(4, 1)
    optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    ledger.op()
    x = paddle.ones([3, 4])
    for step in range(3):
        with ledger.turn(f"step {step + 1}"):
            ledger.op()
            y = net(x)
            ledger.op()
            loss = y.mean()
            loss.backward()
            ledger.op(2 if step else 3)  # the first step also makes the learning rate
            optimizer.step()
            optimizer.clear_grad()


@program
def regions_around_and_inside(ledger: Ledger) -> None:
    import paddle_lab

    ledger.op()
    x = paddle.ones([2])
    with paddle_lab.region("outer"):
        for i in range(2):
            with ledger.turn(f"i {i + 1}"), paddle_lab.region("inner"):
                ledger.op()
                x = x + 1
                for j in range(2):
                    with ledger.turn(f"j {j + 1}"):
                        ledger.op()
                        x = x * 2
    ledger.op()
    x.sum()


@program
def an_accumulation(ledger: Ledger) -> None:
    ledger.op(2)
    net = nn.Linear(4, 1)
    optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    ledger.op()
    x = paddle.ones([3, 4])
    for step in range(4):
        with ledger.turn(f"step {step + 1}"):
            ledger.op(3)
            (net(x).mean() / 4).backward()
            if (step + 1) % 2 == 0:
                ledger.op(2 if step > 1 else 3)  # the first one also makes the learning rate
                optimizer.step()
                optimizer.clear_grad()


@program
def an_lbfgs_closure(ledger: Ledger) -> None:
    ledger.op()
    x = paddle.ones([2])
    calls = 0

    def closure() -> Any:
        nonlocal calls
        calls += 1
        ledger.op()
        return x * calls

    def minimize(times: int) -> None:
        for again in range(times):
            with ledger.turn(f"again {again + 1}"):
                closure()

    for i in range(2):
        with ledger.turn(f"i {i + 1}"):
            minimize(2)


@program
def lambdas_and_map(ledger: Ledger) -> None:
    ledger.op()
    x = paddle.ones([2])
    double = lambda value: value * 2  # noqa: E731
    for i in range(2):
        with ledger.turn(f"i {i + 1}"):
            ledger.op()
            x = double(x)
            ledger.op(3)
            list(map(double, [x, x, x]))


@program
def a_loop_over_a_tensor(ledger: Ledger) -> None:
    ledger.op()
    rows = paddle.ones([3, 2])
    for turn in (1, 2, 3):
        ledger.ops += [(f"row {turn}",)] * 2  # what fetches the row is a part of the turn
    for row in rows:
        row * 2


@program
def arrays_of_which_some_are_skipped(ledger: Ledger) -> None:
    """A skipped array is freed, and the next array often has the same address."""
    ledger.op()
    x = paddle.ones([2])
    turn = itertools.count(1)
    for array in (np.full(2, number) for number in range(8)):
        if array[0] % 2:
            continue
        with ledger.turn(f"array {next(turn)}"):
            ledger.op()
            x = x + 1


@program
def lists_of_which_some_are_skipped(ledger: Ledger) -> None:
    ledger.op()
    x = paddle.ones([2])
    turn = itertools.count(1)
    for batch in ([np.full(2, number), number] for number in range(8)):
        if batch[1] % 2:
            continue
        with ledger.turn(f"batch {next(turn)}"):
            ledger.op()
            x = x + 1


@program
def unpacked_arrays_of_which_some_are_skipped(ledger: Ledger) -> None:
    ledger.op()
    x = paddle.ones([2])
    turn = itertools.count(1)
    for data, label in ((np.full(2, number), [number]) for number in range(8)):
        if label[0] % 2:
            continue
        with ledger.turn(f"data, label {next(turn)}"):
            ledger.op()
            x = x * float(data[0])


class Doubled(PyLayer):
    @staticmethod
    def forward(_context: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(_context: Any, gradient: Any) -> Any:
        return gradient * 2


@program
def variables_that_have_one_object_twice(ledger: Ledger) -> None:
    ledger.op()
    x = paddle.ones([2])
    act = nn.Sequential(nn.ReLU(), nn.ReLU())
    for turn, layer in zip((1, 2, 3), [act] * 3, strict=True):
        with ledger.turn(f"turn, layer {turn}"):
            ledger.op(2)
            x = layer(x)
    turn = 0
    for layer in [act, act, act]:
        turn += 1
        with ledger.turn(f"layer {turn}"):
            ledger.op(2)
            x = layer(x)
    turn = 0
    for token in [5, 5, 7, 7]:
        turn += 1
        with ledger.turn(f"token {turn}"):
            ledger.op()
            x = x * token
    turn = 0
    for letter in "aab":
        turn += 1
        with ledger.turn(f"letter {turn}"):
            x = twice(ledger, twice(ledger, x)) if letter == "a" else x.sum() + twice(ledger, x)
            if letter == "b":
                ledger.op(2)
    turn = 0
    for _pair in [(x, x)] * 2:
        turn += 1
        with ledger.turn(f"_pair {turn}"):
            ledger.op(4)
            x = sum(_pair) + act[0](x)
    turn = 0
    for array in [x, x]:
        turn += 1
        with ledger.turn(f"array {turn}"):
            ledger.op(2)
            x = Doubled.apply(array)


@program
def many_finalizers_at_one_instruction(ledger: Ledger) -> None:
    class Garbage:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            ledger.ops.append(())  # a finalizer belongs to no iteration
            ones.sign()

    ledger.op(2)
    x, ones = paddle.ones([2]), paddle.ones([2])
    for turn, batch in zip((1, 2, 3), [x, x, x], strict=True):
        with ledger.turn(f"turn, batch {turn}"):
            x = twice(ledger, batch)
            for _ in range(5):
                Garbage()
            gc.collect()
            x = twice(ledger, x)
