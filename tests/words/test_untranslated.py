"""All text for people is in the tables of `paddle_lab/words/`: the code has no sentences.

`js/test/words/untranslated.test.ts` tests the same for the page.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "paddle_lab"

# Texts that nobody reads, or that must be English. Each entry says why.
ALLOWED = {
    # Code that shows what a check finds.
    "analysis/findings/checks/*.py": r".*(# |self\.layers = )",
    "analysis/findings/checks/*/*.py": r".*( = |\(\)|:\n)",
    # Paddle's errors, as Paddle writes them.
    "analysis/findings/saved/failed_backward.py": r".*",
    "analysis/findings/checks/*argument.py": r"Leaf Var$|Error message in",
    # Names of ops, one after another.
    "analysis/cost/formulas/*.py": r"[a-z0-9_… ]+$",
    "analysis/cost/sizes.py": r"[a-z0-9_ ]+$",
    "analysis/findings/saved/saved_tensors.py": r"[a-z0-9_ ]+$",
    # Labels as data: `Breakdown.said` tells them to people.
    "analysis/memory/breakdown.py": r"before the trace",
    # A representation for programmers, as `<Op 3: relu in net.0>`.
    "analysis/tables/ops.py": r" in …$",
    # Causes of what `errors.file.damaged` tells.
    "trace/unpack.py": r"(parents|header|unknown column|rows|a value|strings|origin\.|…)",
    # Errors that cannot happen, for those who change the code.
    "trace/trees.py": r"parents form a cycle$",
    "capture/rows/tape.py": r"a tape's cells",
    "trace/pack.py": r"int64 holds",
    "trace/table.py": r"columns of unequal",
    # Lines of the user's program, as it has them.
    "capture/turns/source_loops.py": r"(for|while) …$",
    "capture/deterministic.py": r"(paddle\.seed|DataLoader)",
    # A line of a traceback, as Python writes it.
    "capture/static/sot_lines.py": r'  File "…", line …, in …$',
    # Keys, of counters and of evidence, and a name of Paddle's.
    "capture/evidence/events/pylayer_rules.py": r"(pylayer …|… for …)$",
    "capture/memory/counters.py": r"peak allocated$",
    "views/widgets/shown_widgets.py": r"(cell|text) …$",
    # Threads' names.
    "sampling/nvml.py": r"paddle_lab NVML$",
    "sampling/sampler.py": r"paddle_lab sampler$",
    # Texts that a user types.
    "magics/memory/memory_line.py": r"%paddle_mem off$",
    # Files for tools that speak English.
    "interchange/*.py": r".*",
    # What Paddle's errors contain, and code.
    "capture/export/causes.py": r".*",
    "capture/export/guarded_source.py": r"try:",
    # SOT's own texts, and lines of the user's program.
    "capture/breaks/[kr]*.py": r".*",
    # Styles, policies and fonts.
    "views/html/run_page.py": r"(…; border|text-align|overflow|white-space)",
    "views/html/page.py": r"(\n?html, body|:root|table|td,th|(script|style|img|worker)-src)",
    "views/text/error_note.py": r"(border-left|color): ",
    "views/svg/writer.py": r"system-ui",
    "analysis/tables/text_table.py": r"text-align",
}

# Two words beside each other, or a word beside a value.
SENTENCE = re.compile(r"[A-Za-z]{2,}[,;:.]? [A-Za-z]{2,}|[A-Za-z]{2,} …|… [a-z]{2,}")
# The same in every language: programs, units, types.
NAMES = re.compile(r"\b(?:Paddle|Python|NaN|Inf|ms|dict)\b")
# Markup and representations.
CODE = re.compile(r"\s*<[\w!/…]")
# Calls whose texts no person reads.
UNSHOWN_CALLS = {"say", "Text", "compile", "cast", "import_module", "get", "beginnings"}
# Calls whose texts are for people, however short.
SHOWN_CALLS = {"print", "write", "warn", "UsageError"}


def untranslated(source: str) -> list[tuple[int, str]]:
    """Return the texts of a module that may be read by people, each with its line."""
    tree = ast.parse(source)
    unshown = set(_unshown(tree))
    found = []
    for node in ast.walk(tree):
        if id(node) in unshown:
            continue
        text = _text_of(node)
        if text is not None and SENTENCE.search(NAMES.sub("", text)) and not CODE.match(text):
            found.append((node.lineno, text))
        if isinstance(node, ast.Call) and _name(node.func) in SHOWN_CALLS:
            found += [
                (node.lineno, said)
                for argument in node.args
                if (said := _text_of(argument)) and re.search(r"[a-z]{2,}", said.replace("…", ""))
            ]
    return found


def _text_of(node: ast.AST) -> str | None:
    """Return a text as it is in the code, with "…" for its values; None if there is no text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values
        )
    return None


def _unshown(tree: ast.Module) -> Iterator[int]:
    """Yield the nodes that say nothing to people: docstrings, keys, parts of a text."""
    for node in ast.walk(tree):
        if (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) or (
            isinstance(node, ast.keyword) and node.arg == "doc"
        ):
            yield id(node.value)
        elif isinstance(node, ast.JoinedStr):
            yield from (id(part) for part in node.values)
        elif isinstance(node, ast.Call) and _name(node.func) in UNSHOWN_CALLS:
            yield from map(id, node.args)
            if _name(node.func) == "compile":
                yield from (id(part) for argument in node.args for part in ast.walk(argument))
        elif isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            yield from map(id, ast.walk(node.annotation))


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def test_no_sentence_stands_in_the_code_and_no_allowance_without_a_use() -> None:
    unused, faults = set(ALLOWED), []
    files = sorted(PACKAGE.rglob("*.py"))
    assert len(files) > 300
    for file in files:
        name = file.relative_to(PACKAGE).as_posix()
        for line, text in untranslated(file.read_text(encoding="utf-8")):
            allowing = [
                pattern
                for pattern, texts in ALLOWED.items()
                if file.match(f"paddle_lab/{pattern}") and re.match(texts, text, re.DOTALL)
            ]
            unused -= set(allowing)
            if not allowing:
                faults.append(f"{name}:{line}: {text!r}")
    assert not faults, "\n".join(faults)
    assert not unused


@pytest.mark.parametrize(
    "source",
    [
        'raise ValueError(f"there is no view {view}")',
        'notices.append("Memory is recorded for devices alone.")',
        'title = f"{count} ops"',
        'HEADER = ("held by", "kind")',
        'print("done")',
        'say("a.b", what="of the loop")',
    ],
)
def test_such_a_text_is_seen(source: str) -> None:
    assert untranslated(source)


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring of some words."""',
        'PATTERN = re.compile(r"Its version is (\\d+)")',
        'return f"<Op {key}: {name}>"',
        'print(say("reports.title"))',
        'row["start_ns"] = f"{time} ms"',
    ],
)
def test_and_what_is_none_is_let_pass(source: str) -> None:
    assert not untranslated(source)
