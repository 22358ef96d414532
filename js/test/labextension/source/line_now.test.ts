import { describe, expect, test } from "vitest";
import { findLine, likeness } from "../../../src/labextension/source/line_now.ts";

/** Where a line (its text says which) of a whole cell went: its number, "kept" where nothing changed. */
function went(traced: string, mark: string, now: string): number | string | undefined {
  const lines = traced.split("\n");
  const found = findLine({ lines, firstLine: 1, isWhole: true }, lines.indexOf(mark) + 1, now);
  return found && (found.isChanged ? found.line : `as it was: ${found.line}`);
}

describe("a line of a cell", () => {
  const traced = "a()\nb()\nc()";

  test("is where it was in an unchanged cell, also under empty lines and before trailing ones", () => {
    expect(went(traced, "b()", traced)).toBe("as it was: 2");
    expect(went(traced, "b()", `\n\n${traced}  \n\n`)).toBe("as it was: 4");
  });

  test("is found where it moved to, into a loop as well", () => {
    expect(went(traced, "b()", "# new\na()\nb()\nc()")).toBe(3);
    expect(went(traced, "b()", "c()\nfor _ in x:\n    b()")).toBe(3);
    expect(went(traced, "b()", "A()\nb()\nc()")).toBe(2);
  });

  test("is not found where it was changed or taken out", () => {
    expect(went(traced, "b()", "a()\nb(1)\nc()")).toBeUndefined();
    expect(went(traced, "b()", "a()\nc()")).toBeUndefined();
    expect(went(traced, "b()", "")).toBeUndefined();
  });

  test("of several equal ones is told by its neighbours, or not at all", () => {
    expect(went("a()\nr()\nb()\nr ()", "r()", "r()\n\na()\nr()\nb()")).toBe(4);
    expect(went("a()\nb()", "b()", "b()\nx()\nb()")).toBeUndefined();
  });

  test("is not taken for its equal that is left", () => {
    const twice = ["a()", "r()", "b()", "r()", "c()"];
    const now = "a()\nb()\nr()\nc()";
    const traced = { lines: twice, firstLine: 1, isWhole: true };
    expect(findLine(traced, 2, now)).toBeUndefined();
    expect(findLine(traced, 4, now)).toEqual({ line: 3, isChanged: true });
  });
});

describe("a line of a file, of which a stretch is known", () => {
  const traced = {
    lines: ["def f():", "    a()", "    return b()"],
    firstLine: 41,
    isWhole: false,
  };
  const above = "#\n".repeat(40);
  const text = traced.lines.join("\n");

  test("is where it was while the stretch is, whatever else changed", () => {
    expect(findLine(traced, 42, `${above}${text}\n\nnew = 1\n`)).toEqual({
      line: 42,
      isChanged: false,
    });
  });

  test("is found with its neighbours", () => {
    expect(findLine(traced, 42, `\n\n${above}${text}`)).toEqual({ line: 44, isChanged: true });
  });

  test("is not taken for a line elsewhere that reads the same", () => {
    expect(findLine(traced, 42, `${above}def g():\n    a()\n    c()`)).toBeUndefined();
  });
});

test("how much of a cell is left, each line counted once", () => {
  expect(likeness(["a", "", "b"], "b\n  a\nc")).toBe(1);
  expect(likeness(["a", "a"], "a\nb")).toBe(0.5);
  expect(likeness([""], "a")).toBe(0);
});
