import { describe, expect, test } from "vitest";
import { dtypeNames } from "../../../src/model/table/dtypes.ts";
import { rowsOf } from "../../../src/model/table/rows_of.ts";
import { type SumColumn, type TableData, tableData } from "../../../src/model/table/table_data.ts";
import type { RowKind } from "../../../src/model/table/table_rows.ts";
import { allSpans } from "../../../src/model/time/spans.ts";
import type { Trace } from "../../../src/trace/trace.ts";
import { sumText } from "../../../src/views/table/cells.ts";
import { rowText } from "../../../src/views/table/labels.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";

/**
 * Layer "net" is called twice. Each call runs a PyLayer `Twice` of 900 ns with an `exp` of 300 ns
 * inside it, and then its layer "net.fc" runs a `linear` of 500 ns.
 */
async function traced(): Promise<Trace> {
  const made = new SyntheticTrace();
  const cell = "/tmp/ipykernel_1/4.py";
  const outer = made.stack(made.frame(cell, 2));
  const inner = made.stack(made.frame("model.py", 10), outer);
  for (const path of ["net", "net.fc"]) {
    made.add("layers", { path: made.text(path), parent: path === "net" ? -1 : 0 });
    made.add("layer_names", { name: made.text(path) });
  }
  const x = made.tensor("[4, 16]", { kind: "external" });
  const weight = made.tensor("[16, 16]", { kind: "parameter", path: "fc.weight" });
  for (let call = 0; call < 2; call++) {
    const net = made.group("net");
    const fc = made.group("fc", { parent: net });
    made.tables.scopes.layer![made.tables.groups.scope![net]!] = 0;
    made.tables.scopes.layer![made.tables.groups.scope![fc]!] = 1;
    const stack = { stack: inner, hasGrad: false };
    const twice = made.op("Twice", { group: net, inputs: [x], isPylayer: true, ...stack });
    const exp = made.op("exp", { group: net, inputs: [x], ...stack });
    const linear = made.op("linear", { group: fc, inputs: [x, weight], stack: outer });
    const begin = 10_000 * call;
    [
      [twice.op, 0, 900],
      [exp.op, 100, 300],
      [linear.op, 2000, 500],
    ].forEach(([op, start, duration]) => {
      made.tables.ops.start_ns![op!] = begin + start!;
      made.tables.ops.duration_ns![op!] = duration!;
      made.tables.ops.thread![op!] = 0;
      const flops = [0, 64, op === 2 ? 2048 : -1][op! % 3]!;
      made.add("op_costs", { flops, output_bytes: 96, saved_bytes: -1 });
    });
  }
  return made.trace();
}

function rowNamed(trace: Trace, data: TableData, name: string): number {
  return [...data.shown].find((row) => rowText(trace, data.rows, row).name === name)!;
}

function dataOf(trace: Trace, kind: RowKind, mask: Uint8Array | undefined): TableData {
  return tableData(trace, rowsOf(trace, kind), mask);
}

/** The numbers of one row by the names of their columns. */
function numbers(trace: Trace, kind: RowKind, name: string, mask?: Uint8Array) {
  const data = dataOf(trace, kind, mask);
  const row = rowNamed(trace, data, name);
  const value = (column: SumColumn) => data.sums.get(column)?.values[row];
  return { calls: value("calls"), self: value("self"), total: value("total") };
}

describe("the table", () => {
  test("an op's self time is without the ops that ran inside it", async () => {
    const trace = await traced();
    expect([...allSpans(trace).self_ns]).toEqual([600, 300, 500, 600, 300, 500]);
    expect([...allSpans(trace).parent]).toEqual([-1, 0, -1, -1, 3, -1]);
    expect(numbers(trace, "op", "Twice")).toEqual({ calls: 2, self: 1200, total: 1800 });
    expect(numbers(trace, "each", "Twice #3")).toEqual({
      calls: undefined,
      self: 600,
      total: 900,
    });
  });

  test("a layer's total time is that of all ops inside, each once", async () => {
    const trace = await traced();
    expect(numbers(trace, "layer", "net")).toEqual({ calls: 2, self: 1800, total: 2800 });
    expect(numbers(trace, "layer", "net.fc")).toEqual({ calls: 2, self: 1000, total: 1000 });
    const { sums } = dataOf(trace, "layer", undefined);
    expect(sums.get("total")!.total).toBe(2800);
  });

  test("a line has its own ops, and in total those of the lines that it called", async () => {
    const trace = await traced();
    const data = dataOf(trace, "line", undefined);
    const names = [...data.shown].map((row) => rowText(trace, data.rows, row).name);
    expect(names).toEqual(["4.py, line 2", "model.py, line 10"]);
    expect(numbers(trace, "line", names[0]!)).toEqual({ calls: 2, self: 1000, total: 2800 });
    expect(numbers(trace, "line", names[1]!)).toEqual({ calls: 4, self: 1800, total: 1800 });
    expect(data.rows.selection(0)).toEqual({
      kind: "line",
      file: trace.at("frames", "file", 0),
      line: 2,
    });
  });

  test("a parameter counts once in each row and in the sum", async () => {
    const trace = await traced();
    for (const [kind, name] of [
      ["op", "linear"],
      ["layer", "net"],
      ["layer", "net.fc"],
    ] as const) {
      const data = dataOf(trace, kind, undefined);
      const row = rowNamed(trace, data, name);
      expect(data.sums.get("parameters")!.values[row], name).toBe(256);
      expect(data.sums.get("parameter_bytes")!.values[row], name).toBe(96);
      expect(data.sums.get("parameters")!.total).toBe(256);
    }
  });

  test("outputs and dtypes are those of what the ops made", async () => {
    const trace = await traced();
    const data = dataOf(trace, "layer", undefined);
    const net = rowNamed(trace, data, "net");
    expect(data.sums.get("output")!.values[net]).toBe(6 * 96);
    expect(dtypeNames(trace, data.dtypes![net]!)).toBe("float32");
  });

  test("what is not known is counted, and not as nothing", async () => {
    const trace = await traced();
    const { rows, sums } = dataOf(trace, "op", undefined);
    const flops = sums.get("flops")!;
    const linear = rowNamed(trace, dataOf(trace, "op", undefined), "linear");
    expect(flops.values[linear]).toBe(2048);
    expect([flops.known[linear], flops.unknown[linear]]).toEqual([1, 1]);
    expect([flops.total, flops.totalUnknown]).toEqual([2048 + 2 * 64, 1]);
    const text = (known: number, unknown: number) =>
      sumText("flops", { value: 2048, known, unknown }).text;
    expect([text(2, 0), text(1, 1), text(0, 2)]).toEqual(["2.05 k", "≥ 2.05 k", "–"]);
    expect(rows.count).toBe(3);
  });

  test("what no op has is no column", async () => {
    const { sums } = dataOf(await traced(), "op", undefined);
    expect([...sums.keys()]).toEqual([
      "calls",
      "self",
      "total",
      "flops",
      "parameters",
      "parameter_bytes",
      "output",
    ]);
  });

  test("a search leaves the ops that it found", async () => {
    const trace = await traced();
    const mask = Uint8Array.of(1, 1, 0, 0, 0, 0);
    expect(numbers(trace, "layer", "net", mask)).toEqual({ calls: 1, self: 900, total: 900 });
    const data = dataOf(trace, "layer", mask);
    expect(data.shown.length).toBe(1);
    // Without the PyLayer around it, `exp` has its time for itself.
    expect(numbers(trace, "op", "exp", Uint8Array.of(0, 1, 0, 0, 0, 0)).total).toBe(300);
  });
});
