import { describe, expect, test } from "vitest";
import { blocksByPlace } from "../../../src/memory/blocks/blocks.ts";
import { MEMORY_KINDS } from "../../../src/memory/blocks/kinds.ts";
import { aliveAt } from "../../../src/memory/blocks/moment.ts";
import { firstGroups } from "../../../src/memory/grouping/group_order.ts";
import { kindsOfGroups, sumGroups } from "../../../src/memory/grouping/group_sums.ts";
import { type Grouping, groupAllocations } from "../../../src/memory/grouping/grouping.ts";
import { UNMET } from "../../../src/memory/grouping/groups.ts";
import { litAllocations } from "../../../src/memory/lit.ts";
import { Store } from "../../../src/model/state/store.ts";
import { SCOPE_KINDS } from "../../../src/trace/protocol.ts";
import type { Trace } from "../../../src/trace/trace.ts";
import { MemoryWriter } from "../../records/made_memory.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";
import { encoder } from "../../records/synthetic_nets.ts";

/** An encoder whose op 2 (gelu of blocks.0) and whose grad node of it allocated. */
async function traced(): Promise<{ trace: Trace; gradNode: number; parameter: number }> {
  const made = encoder(1);
  nameLayers(made);
  const gradNode = made.tables.grad_nodes.op!.indexOf(2);
  const parameter = made.tables.tensors.path!.indexOf(made.text("blocks.0.fc1.weight"));
  const writer = new MemoryWriter(made);
  const stack = made.tables.ops.stack![2]!;
  writer.block(-1, -1, 1024, { kind: "parameter", tensor: parameter });
  writer.block(10, -1, 100, { op: 2, stack, kind: "saved_activation" });
  writer.block(20, -1, 50, { op: 2, stack, kind: "temporary" });
  writer.block(30, -1, 7, { op: 2, gradNode, stack, kind: "gradient", phase: "backward" });
  writer.block(40, -1, 1);
  return { trace: await made.trace(), gradNode, parameter };
}

/** Calls of "net" and of its "blocks.0", in which op 2 ran, as a graph's groups have them. */
function nameLayers(made: SyntheticTrace): void {
  const [net, block] = [layerNamed(made, "net"), layerNamed(made, "blocks.0")];
  const weight = made.tables.tensors.path!.indexOf(made.text("blocks.0.fc1.weight"));
  made.add("tensor_layers", { tensor: weight, name: made.text("blocks.0.fc1") });
  const inner = layerCall(made, block, layerCall(made, net, -1));
  made.tables.ops.scope![2] = inner;
  made.tables.groups.scope![made.tables.op_groups.group![2]!] = inner;
}

function layerNamed(made: SyntheticTrace, name: string): number {
  made.add("layers", { path: made.text(name), parent: -1 });
  return made.add("layer_names", { name: made.text(name) });
}

function layerCall(made: SyntheticTrace, layer: number, parent: number): number {
  const kind = SCOPE_KINDS.indexOf("layer");
  return made.add("scopes", { kind, layer, parent, op: -1, backward_call: -1 });
}

function rowsOf(trace: Trace, grouping: Grouping): string[] {
  const blocks = blocksByPlace(trace)[0]!;
  const groups = groupAllocations(trace, grouping);
  const sums = sumGroups(groups, blocks, aliveAt(blocks, 50));
  return firstGroups(groups, sums, { by: "bytes", isDown: true }, 100).map((at) => {
    const group = sums.groups[at]!;
    const name = group === UNMET ? "unmet" : groups.label(group);
    return `${name}: ${sums.bytes[at]} in ${sums.counts[at]}`;
  });
}

describe("blocks are grouped", () => {
  test("by op, in the backward by grad node, before the trace by tensor", async () => {
    const { trace, gradNode, parameter } = await traced();
    expect(rowsOf(trace, "op")).toEqual([
      "blocks.0.fc1.weight: 1024 in 1",
      "gelu #2: 150 in 2",
      "GeluGrad ↔ #2: 7 in 1",
      "no op of this trace: 1 in 1",
    ]);
    const groups = groupAllocations(trace, "op");
    expect([0, 1, 3, 4].map((row) => groups.selection(groups.groupOf[row]!))).toEqual([
      { kind: "tensor", tensor: parameter },
      { kind: "op", op: 2 },
      { kind: "grad_node", gradNode },
      { kind: "none" },
    ]);
  });

  test("by op, tensors from before named by what their memory is for", async () => {
    const made = new SyntheticTrace();
    const writer = new MemoryWriter(made);
    const moment = made.tensor("[4]", { kind: "buffer" });
    made.tables.tensors.name![moment] = made.text("w_0_moment1");
    const signals = made.tensor("[8]", { kind: "external" });
    made.op("adamw_", { inputs: [moment, signals] });
    writer.block(-1, -1, 16, { kind: "optimizer_state", tensor: moment });
    writer.block(-1, -1, 32, { kind: "input", tensor: signals });
    const groups = groupAllocations(await made.trace(), "op");
    const said = (row: number) => [groups.label(row), groups.note(row)];
    expect(said(groups.groupOf[0]!)).toEqual(["w_0_moment1", "optimizer state [4]"]);
    expect(said(groups.groupOf[1]!)).toEqual(["input [8]", ""]);
  });

  test("by layer, a parameter with the layer it belongs to", async () => {
    const { trace } = await traced();
    expect(rowsOf(trace, "layer")).toEqual([
      "blocks.0.fc1: 1024 in 1",
      "blocks.0: 157 in 3",
      "outside of layers: 1 in 1",
    ]);
    const groups = groupAllocations(trace, "layer");
    expect(groups.note(groups.groupOf[1]!)).toBe("Block");
    const group = trace.groupOfOp(2);
    expect(groups.selection(groups.groupOf[1]!)).toEqual({ kind: "group", group });
  });

  test("by layer, all calls of one together, what one has changed with it", async () => {
    const made = new SyntheticTrace();
    const writer = new MemoryWriter(made);
    const layer = layerNamed(made, "G.0");
    const weight = made.tensor("[4]", { kind: "parameter", path: "0.weight" });
    made.add("tensor_layers", { tensor: weight, name: made.text("G.0") });
    for (let call = 0; call < 2; call++) {
      const { op } = made.op("linear", { inputs: [weight] });
      made.tables.ops.scope![op] = layerCall(made, layer, -1);
      writer.block(10, -1, 2000, { op });
    }
    writer.block(-1, -1, 1000, { kind: "parameter", tensor: weight });
    const trace = await made.trace();
    expect(rowsOf(trace, "layer")).toEqual(["G.0: 5000 in 3"]);
    const names = groupAllocations(trace, "op");
    expect(names.label(names.groupOf[2]!)).toBe("G.0.weight");
  });

  test("by op, with the name of the parameter that it made", async () => {
    const made = new SyntheticTrace();
    const { op, out } = made.op("gaussian");
    made.tables.tensors.path![out[0]!] = made.text("fc.weight");
    made.add("tensor_layers", { tensor: out[0]!, name: made.text("fc") });
    new MemoryWriter(made).block(10, -1, 9, { kind: "parameter", op, tensor: out[0]! });
    const groups = groupAllocations(await made.trace(), "op");
    expect(groups.label(0)).toBe("gaussian #0");
    expect(groups.note(0)).toBe("fc.weight");
  });

  test("by the person's own line", async () => {
    const { trace } = await traced();
    expect(rowsOf(trace, "line")).toEqual([
      "before the trace: 1024 in 1",
      "4.py, line 2: 157 in 3",
      "no line: 1 in 1",
    ]);
    const groups = groupAllocations(trace, "line");
    expect(groups.note(groups.groupOf[1]!)).toBe("y = net(x)");
  });

  test("by kind, with what the trace never met apart", async () => {
    const made = encoder(1);
    const writer = new MemoryWriter(made);
    writer.block(-1, -1, 1000, { kind: "parameter" });
    writer.block(10, -1, 100, { kind: "gradient" });
    made.add("memory_totals", { time_ns: 0, place: made.text("cpu"), allocated_bytes: 4000 });
    const trace = await made.trace();
    expect(rowsOf(trace, "kind")).toEqual([
      "unmet: 3000 in 1",
      "parameter: 1000 in 1",
      "gradient: 100 in 1",
    ]);
    expect(blocksByPlace(trace)[0]!.events.peak_bytes).toBe(4100);
  });
});

describe("groups of many blocks", () => {
  /** Blocks 0 … 299 of ops 0 … 299, each of as many bytes, alive from their number on. */
  async function many(): Promise<Trace> {
    const made = new SyntheticTrace();
    const writer = new MemoryWriter(made);
    for (let at = 0; at < 300; at++) {
      const { op } = made.op("matmul");
      writer.block(at, at < 100 ? 500 : -1, at, { op, kind: at % 2 ? "gradient" : "temporary" });
    }
    return made.trace();
  }

  test("are sorted by any column, from either end, and only the first are told", async () => {
    const trace = await many();
    const blocks = blocksByPlace(trace)[0]!;
    const groups = groupAllocations(trace, "op");
    const started = { first: 10, end: 20 };
    const sums = sumGroups(groups, blocks, aliveAt(blocks, 600), started);
    expect(sums.groups).toHaveLength(210);
    const first = (by: "name" | "bytes" | "allocated_bytes", isDown: boolean): string[] =>
      firstGroups(groups, sums, { by, isDown }, 3).map((at) => groups.label(sums.groups[at]!));
    expect(first("bytes", true)).toEqual(["matmul #299", "matmul #298", "matmul #297"]);
    expect(first("bytes", false)).toEqual(["matmul #10", "matmul #11", "matmul #12"]);
    expect(first("allocated_bytes", true)).toEqual(["matmul #19", "matmul #18", "matmul #17"]);
    // As people count: 9 would be before 10.
    expect(first("name", false)).toEqual(["matmul #10", "matmul #11", "matmul #12"]);
    expect(first("name", true)).toEqual(["matmul #299", "matmul #298", "matmul #297"]);
  });

  test("tell the kinds of those that are shown", async () => {
    const trace = await many();
    const blocks = blocksByPlace(trace)[0]!;
    const groups = groupAllocations(trace, "layer");
    const [outside] = kindsOfGroups(groups, blocks, aliveAt(blocks, 600), [0, UNMET]);
    const of = (parity: number): number =>
      Array.from({ length: 200 }, (_, at) => at + 100)
        .filter((at) => at % 2 === parity)
        .reduce((sum, bytes) => sum + bytes, 0);
    expect(outside![MEMORY_KINDS.indexOf("gradient")]).toBe(of(1));
    expect(outside![MEMORY_KINDS.indexOf("temporary")]).toBe(of(0));
  });
});

describe("a selection lights blocks", () => {
  test("an op its own and its grad node's; a block itself alone", async () => {
    const { trace, gradNode, parameter } = await traced();
    const store = new Store(trace);
    const lit = (): number[] | undefined => {
      const rows = litAllocations(store);
      return rows && [...rows.keys()].filter((row) => rows[row]);
    };
    expect(lit()).toBeUndefined();
    store.select({ kind: "op", op: 2 });
    expect(lit()).toEqual([1, 2, 3]);
    store.select({ kind: "grad_node", gradNode });
    expect(lit()).toEqual([3]);
    store.select({ kind: "tensor", tensor: parameter });
    expect(lit()).toEqual([0]);
    store.select({ kind: "allocation", allocation: 2 });
    expect(lit()).toEqual([2]);
    // In the graph the block is its op.
    expect(store.selectionInGraph).toEqual({ kind: "op", op: 2 });
    expect([...store.litOps().keys()].filter((op) => store.litOps()[op])).toEqual([2]);
  });
});
