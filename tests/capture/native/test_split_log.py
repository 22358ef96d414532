"""Paddle's log is split into the same entries in C and in Python."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from paddle_lab.trace.log_text import read_log
from tests.capture.native.twins import NOT_BUILT, PYTHON, C, on_both_twins

# The parts of a header, each with what glog writes first, and what only looks like it.
PARTS = [
    [b"\n", b"\n\t", b"\n\t\t", b"\n ", b"", b"\r"],
    [b"I", b"W", b"E", b"F", b"D", b""],
    [b"1126", b"9999", b"112", b"11260", "\uff11126".encode()],
    [b" ", b"  ", b"\t", b""],
    [b"10:51:46", b"99:99:99", b"10:51:4", b"10515146", b"::::::::", b"1051:466"],
    [b".", b",", b""],
    [b"603328", b"60332", b"6033280", b"\xb2" * 6],
    [b" ", b"    ", b"", b"\t"],
    [b"11931", b"0", b"9" * 18, b"9" * 19, b"0x1", b""],
    [b" ", b"  ", b""],
    [b"backward.cc", b"a-b.h", b"\x00", "空.cc".encode(), b"\xff", b"a b", b"a]", b"a\n", b""],
    [b":", b"::", b" ", b""],
    [b"758", b"0", b"9" * 18, b"9" * 19, b"", b"-1"],
    [b"]", b"] ", b"]  ", b"]\n", b"]\n\n", b" ]", b""],
]


@st.composite
def headers(draw: st.DrawFn) -> bytes:
    # All other parts are as glog writes them, so that many of these are headers.
    varied = draw(st.sets(st.sampled_from(range(len(PARTS))), max_size=3))
    parts = enumerate(PARTS)
    return b"".join(draw(st.sampled_from(part)) if at in varied else part[0] for at, part in parts)


TEXTS = st.one_of(
    st.sampled_from(
        [b"", b"\n", b"Run\nin\n\nBackward\n", b"\t", b"\xe7\xa9", "空".encode(), b" "]
    ),
    st.text().map(str.encode),
    st.binary(max_size=8),
)


@st.composite
def logs(draw: st.DrawFn) -> bytes:
    whole = b"".join(draw(st.lists(st.one_of(headers(), TEXTS), max_size=12)))
    begin = draw(st.sampled_from([0, 0, 1, 5]))
    return whole[begin : draw(st.one_of(st.just(len(whole)), st.integers(0, len(whole))))]


@NOT_BUILT
@settings(max_examples=500, deadline=None)
@given(logs())
def test_both_versions_agree(log: bytes) -> None:
    in_python = PYTHON.split_log(log)
    assert C.split_log(log) == in_python
    assert len(read_log(log, year=2026).text) == len(in_python) // 2


@on_both_twins
def test_an_entry_ends_where_the_next_one_begins(parts) -> None:
    header = "I1126 10:51:46.%06d 11931 %s:%d]"
    lines = [
        "text before",
        header % (1, "a.cc", 1) + " \nfirst\n\n last\n",
        header % (2, "", 2),
        header % (2, "a\0.h", 2),
        "\t" + header % (3, "空.h", 2) + " " + header % (3, "a.cc", 3),
        header.replace("I", "F") % (4, "a.cc", 1),
        (header % (5, "a.cc", 1))[:-1],
    ]
    assert parts.split_log("\n".join(lines).encode() + b"\xff\n") == [
        (header % (1, "a.cc", 1))[:-1],
        f"\nfirst\n\n last\n\n{lines[2]}\n{lines[3]}",
        (header % (3, "空.h", 2))[:-1],
        header % (3, "a.cc", 3),
        lines[5][:-1],
        f"\n{lines[-1]}\N{REPLACEMENT CHARACTER}\n",
    ]


def test_a_text_that_only_looks_like_a_header_is_text() -> None:
    log = "I1126 10:51:46.603328 1 a.cc:1] x\nI1126 1:2:3:4:.603328 1 a.cc:1] y\n"
    assert read_log(log.encode(), year=2026).text == [log[32:].rstrip("\n")]
