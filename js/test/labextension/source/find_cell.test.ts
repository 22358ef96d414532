import { describe, expect, it } from "vitest";
import { type CellText, findCell } from "../../../src/labextension/source/find_cell.ts";

const cells: CellText[] = [
  { id: "a", execution_count: 7, text: "import paddle" },
  { id: "b", execution_count: 2, text: "%%paddle_trace\nloss = net(x)\n" },
  { id: "c", execution_count: null, text: "loss = net(x)" },
  { id: "d", execution_count: 3, text: "loss = net(x)" },
  { id: "e", execution_count: 8, text: "\n  \nx = 1\ny = 2" },
];
/** Of a cell that another kernel ran. */
const at = { file: "/tmp/ipykernel_1/2.py", line: 1, cell: 99 };

describe("findCell", () => {
  it("goes by the cell's id first, whatever the text says now", () => {
    const found = findCell(cells, { ...at, cell_id: "a", cell: 2, source_text: "loss = net(x)" });
    expect(found?.index).toBe(0);
  });

  it("goes by the traced text where the id is gone", () => {
    expect(findCell(cells, { ...at, cell_id: "?", source_text: "import paddle" })?.index).toBe(0);
    const traced = "%%paddle_trace\nloss = net(x)";
    expect(findCell(cells, { ...at, line: 2, source_text: traced })).toEqual({
      index: 1,
      line: 2,
      isChanged: false,
    });
    expect(findCell(cells, { ...at, source_text: "loss = net(x)\n" })?.index).toBe(2);
  });

  it("takes the cell that was run where several have the same text", () => {
    expect(findCell(cells, { ...at, cell: 3, source_text: "loss = net(x)" })?.index).toBe(3);
  });

  it("does not trust an execution count over the text", () => {
    expect(findCell(cells, { ...at, cell: 2, source_text: "import paddle" })?.index).toBe(0);
  });

  it("finds a cell that was edited, also where it was run again", () => {
    const source_text = "y = 2\nx = 1";
    const found = findCell(cells, { ...at, line: 2, source_text });
    expect(found).toEqual({ index: 4, line: 3, isChanged: true });
    expect(findCell(cells, { ...at, line: 2, source_text: "x = 1\nz = 2" })?.line).toBeUndefined();
  });

  it("takes the one that was run of two that were edited alike, and neither where neither was", () => {
    const edited = [
      { id: "a", execution_count: 5, text: "x = 1\ny = 2\nz" },
      { id: "b", execution_count: 6, text: "x = 1\ny = 2\nw" },
    ];
    const source_text = "x = 1\ny = 2";
    expect(findCell(edited, { ...at, cell: 6, source_text })?.index).toBe(1);
    expect(findCell(edited, { ...at, source_text })).toBeNull();
  });

  it("does not take another cell that has the number of the traced one", () => {
    expect(findCell(cells, { ...at, cell: 7, source_text: "import numpy\nx = 0" })).toBeNull();
    expect(findCell(cells, { ...at, cell: 7 })?.index).toBe(0);
  });

  it("counts the empty lines at the top, which IPython drops before it counts", () => {
    const found = findCell(cells, { ...at, line: 2, cell: 8, source_text: "x = 1\ny = 2" });
    expect(found).toEqual({ index: 4, line: 4, isChanged: false });
    expect(findCell(cells, { ...at, line: 2, cell: 8 })).toEqual({
      index: 4,
      line: 4,
      isChanged: false,
    });
  });

  it("finds nothing for a file that is no cell", () => {
    const source_text = "import paddle";
    expect(findCell(cells, { file: "/home/me/net.py", line: 3, source_text })).toBeNull();
    expect(findCell(cells, { ...at, source_text: "import numpy" })).toBeNull();
  });
});
