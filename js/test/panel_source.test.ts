import { expect, test } from "vitest";
import { summaryLine } from "../src/views/banner.ts";
import { tintPython } from "../src/views/python_tint.ts";
import { hexColour } from "../src/views/theme.ts";

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
