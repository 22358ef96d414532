import { expect, test } from "vitest";
import { csvOf, tabbedOf } from "../../src/dom/table_text.ts";

const ROWS = [
  ["op", "bytes"],
  ['say "hi", twice', 1024],
  ["two\nlines\tand a tab", -5],
  ["=1+1", 0],
  ["线性", 7],
];

test("a file quotes what it must, keeps numbers and disarms formulas", () => {
  expect(csvOf(ROWS)).toBe(
    'op,bytes\n"say ""hi"", twice",1024\n"two\nlines\tand a tab",-5\n\'=1+1,0\n线性,7\n',
  );
});

test("what is pasted has a line a row and a tab a column", () => {
  const lines = tabbedOf(ROWS).trimEnd().split("\n");
  expect(lines.map((line) => line.split("\t"))).toEqual([
    ["op", "bytes"],
    ['say "hi", twice', "1024"],
    ["two lines and a tab", "-5"],
    ["'=1+1", "0"],
    ["线性", "7"],
  ]);
});
