"""Each key has both languages, is used in the code, and gets the values that it needs."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import paddle_lab
from paddle_lab.words import LANGUAGES, say

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
WORDS = ROOT / "paddle_lab/words/tables"
ROOMS = sorted(file.stem for file in WORDS.glob("*.json"))
PAGE_ROOMS = ("page", "live", "loader", "environments")
PLACEHOLDER = re.compile(r"\{(\w+)(?::,|\|[^|{}]*\|[^|{}]*)?\}")
CHINESE = "[\u3007\u4e00-\u9fff]"
# What a sentence in Chinese has no half-width sign of: between Chinese, or after it.
HALF_WIDTH = re.compile(
    rf"{CHINESE}\s*[,;:!?()]|[,;:!?()]\s*{CHINESE}|{CHINESE}\.(?!\w)|\.{{3}}|\""
)
# A full-width sign already contains its space.
SPACED = re.compile(r" [，。；：！？（）、]|[，。；：！？、（] |） (?![A-Za-z`{])")
TOUCHING = re.compile(rf"{CHINESE}[A-Za-z0-9`]|[A-Za-z0-9`]{CHINESE}")
# A value has a space on either side, which goes where the value is Chinese; but for sentences.
TOUCHING_VALUE = re.compile(rf"{CHINESE}{{\w+(?::,)?}}|{{(?!said|line|advice)\w+(?::,)?}}{CHINESE}")
WHOLE_PARTS = {"{who}", "{left}"}


def table(room: str) -> dict[str, dict[str, str]]:
    return json.loads((WORDS / f"{room}.json").read_text(encoding="utf-8"))


def advice() -> Iterator[str]:
    """Yield the Chinese of errors.toml."""
    text = (ROOT / "paddle_lab/error_help/errors.toml").read_text(encoding="utf-8")
    for row in tomllib.loads(text)["error"]:
        yield from row["zh"].values()


def placeholders(text: str) -> set[str]:
    return set(PLACEHOLDER.findall(text))


def faults(chinese: str) -> list[str]:
    """Return the errors of Chinese typography in a text. Code is between backticks."""
    code_left_out = re.sub(r"`[^`]*`", "`", chinese)
    # A placeholder counts as its value. The ends of the value are unknown.
    bare = PLACEHOLDER.sub("\ufffc", code_left_out)
    wrong = [found[0] for sign in (HALF_WIDTH, SPACED, TOUCHING) for found in sign.finditer(bare)]
    return wrong + [
        found[0]
        for found in TOUCHING_VALUE.finditer(code_left_out)
        if not any(part in found[0] for part in WHOLE_PARTS)
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_each_key_speaks_both_languages(room: str) -> None:
    for key, texts in table(room).items():
        assert set(texts) == set(LANGUAGES), key
        assert all(text.strip() for text in texts.values()), key
        assert placeholders(texts["en"]) == placeholders(texts["zh"]), key
        assert not re.search(CHINESE, texts["en"]), key


@pytest.mark.parametrize("room", ROOMS)
def test_chinese_is_set_as_chinese(room: str) -> None:
    found = {key: faults(texts["zh"]) for key, texts in table(room).items()}
    assert {key: wrong for key, wrong in found.items() if wrong} == {}


def test_advice_on_errors_is_set_as_chinese() -> None:
    assert {text: faults(text) for text in advice() if faults(text)} == {}


def test_such_faults_are_seen() -> None:
    for text in (
        "张量,梯度",
        "张量(梯度)",
        "算子abc",
        "算子 `x`,梯度",
        "结束.",
        "算子 ，",
        "等等...",
        "共{n}个",
        "{place}在此",
    ):
        assert faults(text), text
    for text in ("张量，梯度", "在 `a, b` 处", "第 3 行（`x`）", "{n} 个算子", "`a.b`：见 x.py"):
        assert not faults(text), text


@pytest.mark.parametrize("room", ROOMS)
def test_a_table_is_sorted_and_laid_out(room: str) -> None:
    laid_out = json.dumps(table(room), ensure_ascii=False, indent=2, sort_keys=True)
    is_so = (WORDS / f"{room}.json").read_text(encoding="utf-8") == f"{laid_out}\n"
    assert is_so, "run `python -m paddle_lab.words`"


# -- who asks for what ----------------------------------------------------------------------------


class Call:
    """One call of `say` or of a room's `t`: a pattern of keys, and the names of its values."""

    def __init__(self, where: str, pattern: str, values: set[str] | None) -> None:
        self.where, self.pattern, self.values = where, re.compile(pattern), values

    def __repr__(self) -> str:
        return f"{self.where}: {self.pattern.pattern}"


def python_calls() -> Iterator[Call]:
    for file in (ROOT / "paddle_lab").rglob("*.py"):
        source = file.read_text(encoding="utf-8")
        if "say(" not in source and "Text(" not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("say", "Text"):
                names = {word.arg for word in node.keywords}
                where = f"{file.relative_to(ROOT)}:{node.lineno}"
                for key in _keys(node.args[0]):
                    yield Call(where, key, None if None in names else names)
            elif isinstance(node, ast.JoinedStr) and _is_key(node.values[0]):
                yield Call(str(file), *_keys(node), None)


def _is_key(begin: ast.expr) -> bool:
    """Tell whether a text begins like a key: such a key is made first, and looked up later."""
    return isinstance(begin, ast.Constant) and begin.value.partition(".")[0] in ROOMS


def _keys(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant):
        yield re.escape(node.value)
    elif isinstance(node, ast.JoinedStr):
        yield "".join(
            re.escape(part.value) if isinstance(part, ast.Constant) else r"[\w.-]+"
            for part in node.values
        )
    elif isinstance(node, ast.IfExp):
        yield from _keys(node.body)
        yield from _keys(node.orelse)


def page_calls() -> Iterator[Call]:
    for file in (ROOT / "js/src").rglob("*.ts"):
        source = file.read_text(encoding="utf-8")
        room = re.search(r"import \{[^}]*\bt\b[^}]*\} from \"[./]*(?:words/)?(\w+)\.ts\"", source)
        if room is None or room[1] not in PAGE_ROOMS:
            continue
        for call in re.finditer(r"\bt\(\s*(\"[^\"]+\"|`[^`]+`)(,?)", source):
            key = "".join(
                r"[\w.-]+" if part.startswith("${") else re.escape(part)
                for part in re.split(r"(\$\{[^}]*\})", call[1][1:-1])
            )
            line = source.count("\n", 0, call.start()) + 1
            values = _values(source[call.end() :]) if call[2] else set()
            where = f"{file.relative_to(ROOT)}:{line}"
            yield Call(where, rf"{room[1]}\.{key}", values)


def _values(source: str) -> set[str] | None:
    """Return the names of an object literal's fields; None where there is none, or it spreads."""
    source = source.lstrip()
    if not source.startswith("{"):
        return None if source[:1] not in (")", "") else set()
    depth, field, fields = 0, "", []
    for sign in source:
        depth += sign in "{[("
        depth -= sign in "}])"
        if not depth or (depth == 1 and sign == ","):
            fields.append(field)
            field = ""
            if not depth:
                break
        elif not (depth == 1 and sign == "{"):
            field += sign
    names = {field.split(":")[0].strip() for field in fields if field.strip()}
    return None if any(name.startswith("...") for name in names) else names


CALLS = [*python_calls(), *page_calls()]
KEYS = {f"{room}.{key}": texts for room in ROOMS for key, texts in table(room).items()}


def test_every_call_has_its_sentence_and_its_values() -> None:
    assert CALLS
    wrong = []
    for call in CALLS:
        found = [texts for key, texts in KEYS.items() if call.pattern.fullmatch(key)]
        if not found:
            wrong.append(f"{call}: no such key")
        elif call.values is not None:
            wanted = set().union(*(placeholders(texts["en"]) for texts in found))
            # A call that has several keys gives what any of them says.
            if call.values != wanted and not (len(found) > 1 and call.values < wanted):
                wrong.append(f"{call}: the table wants {wanted}, the call gives {call.values}")
    assert not wrong, "\n".join(wrong)


def test_every_key_is_used() -> None:
    # A key may also stand as text in a table of the code.
    sources = [
        *(ROOT / "paddle_lab").rglob("*.py"),
        *(ROOT / "js/src").rglob("*.ts"),
    ]
    literals = set(re.findall(r"[\"'`]([\w.-]+)[\"'`]", "\n".join(map(Path.read_text, sources))))
    unused = [
        key
        for key in KEYS
        if key not in literals
        and not (key.split(".")[0] in PAGE_ROOMS and key.partition(".")[2] in literals)
        and not any(call.pattern.fullmatch(key) for call in CALLS)
    ]
    assert unused == []


# -- how it is said -------------------------------------------------------------------------------


@pytest.fixture
def in_chinese() -> Iterator[None]:
    paddle_lab.language("zh")
    yield
    paddle_lab.language("en")


def test_numbers_and_the_words_that_follow_them() -> None:
    assert say("page.count.op", n=1) == "1 op"
    assert say("page.count.op", n=12_345) == "12,345 ops"


@pytest.mark.usefixtures("in_chinese")
def test_the_chosen_language_is_spoken() -> None:
    assert say("page.count.op", n=12_345) == "12,345 个算子"


@pytest.mark.usefixtures("in_chinese")
def test_a_room_stands_between_chinese_and_latin_alone() -> None:
    assert say("reports.of_phase", n=3, phase="前向") == "前向 3 个"
    assert say("page.outline.layer", layer="头部") == "层头部"
    assert say("page.outline.layer", layer="net") == "层 net"
    said = say("reports.finding_without_place", severity="警告", kind="a", message="这里")
    assert said == "警告 [a] 这里"
    assert say("lists.last", some="（甲）", last="乙") == "（甲）和乙"


def test_a_key_that_there_is_not_ends_nothing() -> None:
    assert say("page.no-such-key") == "page.no-such-key"
