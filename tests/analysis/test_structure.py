"""Groups get equal numbers if they are built alike, and only then."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from paddle_lab.analysis.answers import with_answers
from tests.trace.records import RecordWriter


def structures(w: RecordWriter) -> list[int]:
    return with_answers(w.record()).groups["structure"].tolist()


def block(w: RecordWriter, x, name: str, ops=("matmul", "add"), *, residual=False, line=1):
    with w.layer(name, "Block"):
        y = first = w.op(ops[0], x, w.parameter(f"{name}.{ops[0]}"), line=line)
        for op in ops[1:]:
            y = w.op(op, y, w.parameter(f"{name}.{op}"), line=line)
        if residual:
            y = w.op("add", y, first)
    return y


def test_blocks_alike_have_one_number_whatever_their_names_parameters_and_lines():
    w = RecordWriter()
    x = w.op("full")
    x = block(w, x, "layers.0", line=1)
    w.op("relu", x)
    block(w, x, "layers.1", line=2)
    first, second = structures(w)
    assert first == second >= 0


def test_one_of_a_kind_has_no_number():
    w = RecordWriter()
    block(w, w.tensor(), "a")
    assert structures(w) == [-1]


def test_other_ops_other_order_other_edges_other_classes_have_other_numbers():
    w = RecordWriter()
    x = w.op("full")
    for i in range(2):
        block(w, x, f"a{i}", ("matmul", "add", "add"))
        block(w, x, f"b{i}", ("add", "matmul", "add"))
        block(w, x, f"c{i}", ("matmul", "add", "relu"))
        block(w, x, f"d{i}", ("matmul", "add"), residual=True)
        with w.layer(f"e{i}", "Other"):
            y = w.op("matmul", x)
            w.op("add", w.op("add", y))
    numbers = structures(w)
    assert numbers[:5] == numbers[5:]
    assert len(set(numbers)) == 5
    assert -1 not in numbers


def test_nesting_counts():
    w = RecordWriter()
    for i in range(2):
        with w.layer(f"a{i}"), w.layer(f"a{i}.inner"):
            w.op("relu")
    for i in range(2):
        with w.layer(f"b{i}"):
            w.op("relu")
    a0, a0_inner, a1, a1_inner, b0, b1 = structures(w)
    assert a0 == a1
    assert a0_inner == a1_inner == b0 == b1
    assert a0 != b0


def test_an_edge_across_two_inner_groups_counts():
    w = RecordWriter()
    for is_linked in (True, False, True):
        with w.layer(f"outer{is_linked}"):
            with w.layer("left"):
                y = w.op("relu")
            with w.layer("right"):
                w.op("relu", y if is_linked else w.tensor())
    numbers = structures(w)
    assert numbers[0] == numbers[6] >= 0
    assert numbers[3] == -1


programs = st.recursive(
    st.sampled_from(["relu", "add"]),
    lambda inner: st.lists(inner, min_size=1, max_size=3),
    max_leaves=8,
)


def run(w: RecordWriter, program) -> None:
    """Run a program: nested lists are layers; each op takes the result of the one before."""
    waiting = [("part", program)]
    last = w.tensor()
    while waiting:
        what, part = waiting.pop()
        if what == "leave":
            part.__exit__(None, None, None)
        elif isinstance(part, str):
            last = w.op(part, last)
        else:
            layer = w.layer("layer")
            layer.__enter__()
            waiting.append(("leave", layer))
            waiting.extend(("part", inner) for inner in reversed(part))


def lists(program) -> list:
    """Return every list in a program, in the order in which it is entered."""
    if isinstance(program, str):
        return []
    return [program, *(found for part in program for found in lists(part))]


@given(st.lists(programs, min_size=1, max_size=4))
def test_numbers_are_equal_exactly_where_the_programs_are(parts):
    w = RecordWriter()
    run(w, parts)
    entered = lists(parts)
    numbers = structures(w)
    # Groups are sorted by their first op, then depth: the order in which they were entered.
    assert len(numbers) == len(entered)
    for a, left in zip(numbers, entered, strict=True):
        for b, right in zip(numbers, entered, strict=True):
            if a >= 0 or b >= 0:
                assert (a == b) == (left == right)
        assert (a == -1) == (entered.count(left) == 1)
