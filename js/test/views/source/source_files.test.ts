import { expect, test } from "vitest";
import { distinctNames } from "../../../src/views/names/file_names.ts";
import { fileLabel } from "../../../src/views/names/stack_order.ts";
import { sourceFiles } from "../../../src/views/source/source_files.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";

/** A trace of cell 5: it calls functions of cell 2, a file of the user's, and Paddle's. */
function tracedCell() {
  const made = new SyntheticTrace();
  const frame = (
    file: string,
    kind: "user" | "library" | "paddle",
    { cell = -1, line = 1 } = {},
  ) => {
    const key = made.frame(file, line, "f", kind);
    made.tables.frames.cell![key] = cell;
    made.add("sources", {
      file: made.text(file),
      first_line: line,
      text: made.text("x\n"),
      cell,
    });
    return key;
  };
  const runner = made.stack(frame("/site/ipykernel/app.py", "library"));
  const cell = made.stack(frame("/tmp/5.py", "user", { cell: 5 }), runner);
  const defining = made.stack(frame("/tmp/2.py", "user", { cell: 2 }), cell);
  const file = made.stack(frame("/me/blocks/norm.py", "user"), defining);
  const paddle = made.stack(frame("/site/paddle/nn/layer/norm.py", "paddle"), file);
  const functional = made.stack(frame("/site/paddle/nn/functional/norm.py", "paddle"), paddle);
  for (let op = 0; op < 9; op++) made.op("layer_norm", { stack: functional });
  made.op("mean", { stack: cell });
  return { made, frame };
}

test("the traced cell comes first, not the one that defines what it calls most", async () => {
  const { made, frame } = tracedCell();
  // A thread begins in a function of an earlier cell.
  const thread = made.stack(frame("/tmp/3.py", "user", { cell: 3 }));
  for (let op = 0; op < 50; op++) made.op("relu", { stack: thread });
  const trace = await made.trace();
  const files = sourceFiles(trace);
  expect(files.map(({ file, cell, kind }) => `${kind} ${fileLabel(trace, file, cell)}`)).toEqual([
    "user Cell 5",
    "user Cell 2",
    "user Cell 3",
    "user blocks/norm.py",
    "library app.py",
    "paddle functional/norm.py",
    "paddle layer/norm.py",
  ]);
});

test("of a script's files the one that the stacks begin in comes first", async () => {
  const made = new SyntheticTrace();
  const main = made.stack(made.frame("/me/train.py", 9));
  const model = made.stack(made.frame("/me/model.py", 3, "forward"), main);
  for (const file of ["/me/model.py", "/me/train.py"]) {
    made.add("sources", { file: made.text(file), first_line: 1, text: made.text("x"), cell: -1 });
  }
  made.op("relu", { stack: model });
  const trace = await made.trace();
  expect(sourceFiles(trace).map(({ file }) => trace.text(file))).toEqual([
    "/me/train.py",
    "/me/model.py",
  ]);
});

test("the user's own cells and files come before the libraries'", async () => {
  const made = new SyntheticTrace();
  const add = (file: string, cell: number, first_line = 1) =>
    made.add("sources", { file: made.text(file), first_line, text: made.text("x\n"), cell });
  made.frame("b.py", 1, "f", "library");
  made.frame("c.py", 1);
  made.frame("cell", 1);
  add("b.py", -1);
  add("c.py", -1, 40);
  add("c.py", -1, 3);
  add("cell", 2);
  const trace = await made.trace();
  const files = sourceFiles(trace);
  expect(files.map(({ file }) => trace.text(file))).toEqual(["cell", "c.py", "b.py"]);
  expect(files.map(({ kind }) => kind)).toEqual(["user", "user", "library"]);
  expect(files[1]!.stretches).toEqual([
    { firstLine: 3, lines: ["x"] },
    { firstLine: 40, lines: ["x"] },
  ]);
});

test("names of files are as short as tells them apart", () => {
  const paths = ["/a/nn/norm.py", "/a/fn/norm.py", "/a/mean.py", "C:\\b\\fn\\norm.py", "norm.py"];
  expect([...distinctNames(paths).values()].sort()).toEqual([
    "a/fn/norm.py",
    "b/fn/norm.py",
    "mean.py",
    "nn/norm.py",
    "norm.py",
  ]);
  expect(distinctNames(["", "/x/y.py"]).get("")).toBe("");
});
