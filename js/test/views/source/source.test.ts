import { expect, test } from "vitest";
import { hexColour } from "../../../src/dom/theme.ts";
import { Store } from "../../../src/model/state/store.ts";
import { summaryLine } from "../../../src/views/banner.ts";
import { litParts } from "../../../src/views/names/lit_parts.ts";
import { tintPython } from "../../../src/views/source/python_tint.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";

function tinted(...lines: string[]): string[][] {
  return tintPython(lines).map((spans, index) =>
    spans.map(({ start, end, tint }) => `${tint}:${lines[index]!.slice(start, end)}`),
  );
}

test("keywords, strings and comments are told apart", () => {
  expect(tinted("def f(x):  # for 'x'", "    return 'a # b' if x else None")).toEqual([
    ["keyword:def", "comment:# for 'x'"],
    ["keyword:return", "string:'a # b'", "keyword:if", "keyword:else", "keyword:None"],
  ]);
  expect(tinted("format_in = xif.is_in")).toEqual([[]]);
});

test("a text of several lines is coloured on each of them", () => {
  expect(tinted('a = """one', "", 'two" for', '"""; del a')).toEqual([
    ['string:"""one'],
    [],
    ['string:two" for'],
    ['string:"""', "keyword:del"],
  ]);
  expect(tinted("'''", "never ends")).toEqual([["string:'''"], ["string:never ends"]]);
  expect(tinted("x = 'no end", "for")).toEqual([["string:'no end"], ["keyword:for"]]);
});

test("the line of an error that says it is found among Paddle's frames", () => {
  const lines = [
    "--------------------------------------",
    "C++ Traceback (most recent call last):",
    "0   paddle::Tensor::backward()",
    "----------------------",
    "Error Message Summary:",
    "InvalidArgumentError: (InvalidArgument) version 1 != 0",
    "  [Hint: Expected a == b.] (at tensor_wrapper.h:230)",
  ];
  expect(summaryLine(lines)).toBe("InvalidArgumentError: (InvalidArgument) version 1 != 0");
  expect(summaryLine(["ValueError: no"])).toBe("ValueError: no");
  expect(summaryLine(["", "it broke", "here"])).toBe("it broke");
});

test("resolved colours become hexadecimal", () => {
  expect(hexColour("rgb(1, 2, 255)")).toBe("#0102ff");
  expect(hexColour("rgba(255, 0, 0, 0.5)")).toBe("#ff000080");
  expect(hexColour("color(srgb 0 0.5 1)")).toBe("#0080ff");
});

test("a line that made whole layers names them, and the ops beside them", async () => {
  const made = new SyntheticTrace();
  const here = made.stack(made.frame("cell", 3));
  const net = made.group("net");
  const inner = made.group("fc", { parent: net });
  const other = made.group("other");
  made.op("relu", { stack: here });
  made.op("linear", { stack: here, group: inner });
  made.op("add", { stack: here, group: inner });
  made.op("gelu", { stack: here, group: net });
  made.op("mean", { stack: here, group: other });
  made.op("sum", { group: other });
  const store = new Store(await made.trace());
  store.select({ kind: "line", file: made.text("cell"), line: 3 });
  expect(litParts(store)).toEqual([{ op: 0 }, { group: net }, { op: 4 }]);
});
