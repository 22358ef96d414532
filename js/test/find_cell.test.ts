import { describe, expect, it } from "vitest";
import { type CellText, findCell } from "../src/labextension/find_cell.ts";

const cells: CellText[] = [
  { id: "a", execution_count: 7, text: "import paddle" },
  { id: "b", execution_count: 2, text: "%%paddle_trace\nloss = net(x)\n" },
  { id: "c", execution_count: null, text: "loss = net(x)" },
  { id: "d", execution_count: 3, text: "loss = net(x)" },
];
const at = { file: "/tmp/ipykernel_1/2.py", line: 1 };

describe("findCell", () => {
  it("goes by the cell's id first, whatever the text says now", () => {
    expect(findCell(cells, { ...at, cell_id: "a", cell: 2, source_text: "loss = net(x)" })).toBe(0);
  });

  it("goes by the traced text where the id is gone, with or without the magic's line", () => {
    expect(findCell(cells, { ...at, cell_id: "gone", source_text: "import paddle" })).toBe(0);
    expect(findCell(cells, { ...at, source_text: "%%paddle_trace\nloss = net(x)" })).toBe(1);
    expect(findCell(cells, { ...at, source_text: "loss = net(x)\n" })).toBe(1);
  });

  it("takes the cell that was run where several have the same text", () => {
    expect(findCell(cells, { ...at, cell: 3, source_text: "loss = net(x)" })).toBe(3);
  });

  it("does not trust an execution count over the text", () => {
    expect(findCell(cells, { ...at, cell: 2, source_text: "import paddle" })).toBe(0);
  });

  it("falls back on the execution count when the cell was edited", () => {
    expect(findCell(cells, { ...at, cell: 7, source_text: "import numpy" })).toBe(0);
  });

  it("finds nothing for a file that is no cell", () => {
    expect(findCell(cells, { file: "/home/me/net.py", line: 3 })).toBe(-1);
    expect(findCell(cells, { ...at, source_text: "import numpy" })).toBe(-1);
  });
});
