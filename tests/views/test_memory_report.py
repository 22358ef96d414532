"""The ledger and the living tensors as text and HTML, from values written by hand."""

from __future__ import annotations

from dataclasses import replace
from html import escape

from paddle_lab.holders.living import BackwardGraph, LivingTensor
from paddle_lab.holders.roots import Root, RootKind
from paddle_lab.ledger import Entry
from paddle_lab.views.text.memory_report import LedgerLine, MemoryReport
from paddle_lab.words import say

MIB = 2**20


def living(
    name: str, size: int, *, root: str = "", kind: RootKind = "variable", storage: int = 0
) -> LivingTensor:
    living.address += 2**30  # type: ignore[attr-defined]
    return LivingTensor(
        kind=kind,
        name=name,
        root=Root(kind, root or name, None),
        address=living.address,  # type: ignore[attr-defined]
        storage_bytes=storage or size,
        bytes=size,
        place="cpu",
    )


living.address = 0  # type: ignore[attr-defined]


def test_a_cycle_that_waits_for_the_collector_can_be_freed_and_is_nobodys() -> None:
    left = living("<Node>.kept", MIB, root="<Node>", kind="container")
    root = replace(left.root, remark=say("memory.held_by.cycle"))
    report = MemoryReport((), [replace(left, root=root)], allocated={"cpu": MIB})
    row = repr(report).splitlines()[-1]
    assert " ".join(row.split()) == "1.00 MiB 1 <Node>.kept unreferenced: %paddle_mem free"
    several = [replace(left, root=root), replace(living("b", MIB), root=root)]
    report = MemoryReport((), several, allocated={"cpu": 2 * MIB})
    assert "<Node> (in an uncollected reference cycle)" in repr(report)


def test_what_is_alive_is_told_by_who_holds_it_largest_first() -> None:
    report = MemoryReport(
        (),
        [
            living("cache[0]", MIB, root="cache"),
            living("cache[1]", 2 * MIB, root="cache"),
            living("net.weight", 8 * MIB, root="net"),
            living("first", 1024, storage=4 * MIB),
            living("Out[5]", MIB // 2, kind="output"),
        ],
        allocated={"cpu": 20 * MIB},
        graphs=[BackwardGraph(["cache[0]"], {1}), BackwardGraph(["cache[1]", "loss"], {2})],
    )
    lines = [" ".join(line.split()) for line in repr(report).splitlines()]
    assert lines == [
        "Alive now: 20.0 MiB on cpu",
        "size tensors held by",
        "8.00 MiB 1 net.weight",
        "4.50 MiB backward graphs and unnamed objects",
        "4.00 MiB 1 first a view of 1.00 KiB keeps 4.00 MiB",
        "3.00 MiB 2 cache",
        "512.0 KiB 1 Out[5] only the notebook holds it: %paddle_mem free",
        "",
        "Backward graphs and the tensors saved in them are kept by cache, loss.",
    ]
    assert report.releasable_bytes == MIB // 2


def test_many_holders_are_cut_short_and_still_add_up() -> None:
    tensors = [living(f"x{i}", (50 - i) * 1024) for i in range(50)]
    total = sum(tensor.bytes for tensor in tensors)
    text = repr(MemoryReport((), tensors, allocated={"cpu": total}, is_complete=False))
    assert "30 more names" in text
    assert "no name" not in text
    assert "some holders may be missing" in text


def test_the_ledger_tells_how_it_knows_a_peak() -> None:
    ledger = [
        Entry(3, "gpu:0", 0, MIB, 4 * MIB, "allocator", MIB, [("loss", MIB)]),
        Entry(4, "gpu:0", MIB, MIB, 2 * MIB, "sampled"),
        Entry(5, "gpu:0", MIB, 0),
    ]
    rows = [
        " ".join(line.split())
        for line in repr(MemoryReport(ledger, [], allocated={})).splitlines()
        if line.startswith("[")
    ]
    assert rows == [
        "[3] gpu:0 0 B 4.00 MiB 1.00 MiB 1.00 MiB loss 1.00 MiB",
        "[4] gpu:0 1.00 MiB ≥ 2.00 MiB 1.00 MiB –",
        "[5] gpu:0 1.00 MiB – 0 B –",
    ]


def test_signs_in_the_ledger_are_said_where_there_are_any() -> None:
    recorded = Entry(3, "cpu", 0, MIB, 4 * MIB, "allocator", MIB, [("loss", MIB)])
    assert "first line records" not in repr(MemoryReport([recorded], [], allocated={}))
    sampled = Entry(4, "cpu", MIB, MIB, 2 * MIB, "sampled")
    report = MemoryReport([recorded, sampled], [], allocated={})
    said = (
        "≥ is at least this much, – was not recorded: "
        "%%paddle_mem on a cell's first line records all of it."
    )
    assert said in repr(report).splitlines()
    assert f"<p>{escape(said)}</p>" in report._repr_html_()


def test_a_line_of_the_ledger_names_few_holders() -> None:
    held = [(f"x{i}", MIB) for i in range(9)]
    line = LedgerLine(Entry(3, "cpu", 0, 9 * MIB, 9 * MIB, "allocator", 9 * MIB, held))
    assert repr(line).endswith("held by x0 1.00 MiB, x1 1.00 MiB, x2 1.00 MiB, 6 more.")


def test_names_are_text_in_html() -> None:
    hostile = "<script>alert(1)</script>"
    report = MemoryReport(
        [Entry(3, hostile, 0, 1, 1, "allocator", 1, [(hostile, 1)])],
        [living(hostile, MIB)],
        allocated={hostile: 2 * MIB},
        graphs=[BackwardGraph([hostile], {1})],
    )
    line = LedgerLine(Entry(3, hostile, 0, 1, 1, "allocator", 1, [(hostile, 1)]))
    for html in (report._repr_html_(), line._repr_html_()):
        assert "<script" not in html
        assert "&lt;script&gt;" in html
