import { describe, expect, test } from "vitest";
import { Hierarchy } from "../../../src/model/graph/hierarchy.ts";
import { boxAround, membersOf, opsInside, phasesOf } from "../../../src/model/time/box_facts.ts";
import { type GrownTree, growKernels, growTree } from "../../../src/model/time/grow_tree.ts";
import { icicle } from "../../../src/model/time/icicle.ts";
import { type Nesting, placesOf } from "../../../src/model/time/places.ts";
import { isTimeComplete, threadsOf } from "../../../src/model/time/spans.ts";
import { BACKWARD_KINDS } from "../../../src/trace/protocol.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";

/** Ops with given times, in ns; all else is as in `SyntheticTrace`. */
class TimedTrace extends SyntheticTrace {
  at(name: string, start: number, end: number, options: Parameters<SyntheticTrace["op"]>[1] = {}) {
    const { op } = this.op(name, options);
    this.tables.ops.thread![op] = 0;
    this.tables.ops.start_ns![op] = start;
    this.tables.ops.duration_ns![op] = end - start;
    return op;
  }
}

async function grow(made: SyntheticTrace, nesting: Nesting = "layer", thread = 0) {
  if (!made.tables.own_times.op!.length) made.add("own_times", { op: -1, own_ns: 0 });
  const trace = await made.trace();
  const places = placesOf(trace, new Hierarchy(trace), nesting);
  return { trace, places, grown: growTree(trace, places, thread) };
}

/** "kind key total" of each box, indented by its depth. */
function drawn({ tree }: GrownTree): string[] {
  return Array.from({ length: tree.length }, (_, box) => box)
    .sort((a, b) => compare(tree.path(a), tree.path(b)))
    .map((box) => {
      const { kind, key } = tree.of(box);
      const count = tree.count(box) > 1 ? ` x${tree.count(box)}` : "";
      return `${"  ".repeat(tree.path(box).length - 1)}${kind} ${key} ${tree.total_ns(box)}${count}`;
    });
}

function compare(a: number[], b: number[]): number {
  const at = a.findIndex((box, depth) => box !== b[depth]);
  return at < 0 ? a.length - b.length : (a[at] ?? -1) - (b[at] ?? -1);
}

function expectSums({ tree }: GrownTree, whole_ns: number): void {
  expect(tree.total_ns(0)).toBe(whole_ns);
  for (let box = 0; box < tree.length; box++) {
    const inner = tree.children(box);
    if (!inner.length) continue;
    const sum_ns = inner.reduce((sum, child) => sum + tree.total_ns(child), 0);
    expect(sum_ns).toBe(tree.total_ns(box));
  }
}

/** Two calls of one layer, with an op between them. */
function twoCalls(): TimedTrace {
  const made = new TimedTrace();
  made.origin.duration_ns = 1000;
  const first = made.group("fc", { className: "Linear" });
  made.at("linear", 100, 200, { group: first });
  made.at("relu", 230, 250, { group: first });
  made.at("mean", 300, 400);
  const second = made.group("fc", { className: "Linear" });
  made.at("linear", 450, 500, { group: second });
  made.at("relu", 510, 530, { group: second });
  made.at("sgd_", 600, 800, { phase: "optimizer" });
  return made;
}

describe("a tree of time", () => {
  test("adds up calls of the same layer; gaps belong to the call that contains them", async () => {
    const { grown, places } = await grow(twoCalls());
    expect(drawn(grown)).toEqual([
      "root -1 1000",
      "  before -1 100",
      "  group 0 230 x2",
      "    op 0 150 x2",
      "    op 1 40 x2",
      "    outside -1 40 x2",
      "  op 2 100",
      "  op 5 200",
      "  outside -1 170 x3",
      "  after -1 200",
    ]);
    expectSums(grown, 1000);
    const [linear] = grown.boxOfSpan;
    expect(membersOf(grown, places, linear!)).toEqual([0, 3]);
    expect(membersOf(grown, places, grown.tree.parent(linear!))).toEqual([0, 1]);
    expect([...opsInside(grown)].slice(0, 1)).toEqual([6]);
  });

  test("what the trace itself took of a gap has a box of its own", async () => {
    const made = twoCalls();
    // Sums until each op began: 60 before the first, 10 between the first two, and so on.
    const own = [60, 70, 80, 81, 90, 500, 550];
    own.forEach((own_ns, op) => {
      made.add("own_times", { op: op < 6 ? op : -1, own_ns });
    });
    const { grown } = await grow(made);
    expect(drawn(grown)).toEqual([
      "root -1 1000",
      "  before -1 40",
      "  group 0 230 x2",
      "    op 0 150 x2",
      "    op 1 40 x2",
      "    own -1 19 x2",
      "    outside -1 21 x2",
      "  op 2 100",
      "  op 5 200",
      "  own -1 191 x5",
      "  outside -1 89 x2",
      "  after -1 150",
    ]);
    expectSums(grown, 1000);
  });

  test("the time of a span is without the spans inside it, and no gap lies in a span", async () => {
    const made = new TimedTrace();
    made.origin.duration_ns = 600;
    const square = made.group("Square", { kind: "pylayer" });
    const call = made.backward(-1);
    made.tables.backward_calls.scope![call] = -1;
    // The inner ops come first in a record: an op is recorded when it ends.
    made.at("multiply", 20, 50, { group: square });
    made.at("Square", 10, 100, { group: square, isPylayer: true });
    made.at("multiply", 350, 400, { group: square, phase: "backward" });
    made.add("backward_times", { backward_call: call, thread: 0, start_ns: 300, duration_ns: 200 });
    const { grown, trace } = await grow(made);
    expect(drawn(grown)).toEqual([
      "root -1 600",
      "  before -1 10",
      "  group 0 140",
      "    op 1 60",
      "    op 0 30",
      "    op 2 50",
      "  backward 0 150",
      "  outside -1 200",
      "  after -1 100",
    ]);
    expectSums(grown, 600);
    expect(isTimeComplete(trace)).toBe(true);
    const phases = phasesOf(trace, grown);
    // Forward and backward ops are in the PyLayer's box.
    expect(phases[grown.tree.parent(grown.boxOfSpan[0]!)]).toBe(-2);
  });

  test("a call of paddle.grad is one span, although a record has it twice", async () => {
    const made = new TimedTrace();
    made.origin.duration_ns = 100;
    const call = made.backward(-1);
    made.tables.backward_calls.scope![call] = -1;
    made.tables.backward_calls.kind![call] = BACKWARD_KINDS.indexOf("paddle.grad");
    made.at("paddle.grad", 10, 60, { phase: "backward" });
    made.add("backward_times", { backward_call: call, thread: 0, start_ns: 10, duration_ns: 50 });
    const { grown } = await grow(made);
    expect(drawn(grown)).toEqual(["root -1 100", "  before -1 10", "  op 0 50", "  after -1 40"]);
  });

  test("a record without the time of a backward call, or without all ops, is not complete", async () => {
    const made = twoCalls();
    expect(isTimeComplete(await made.trace())).toBe(false);
    made.add("own_times", { op: -1, own_ns: 0 });
    expect(isTimeComplete(await made.trace())).toBe(true);
    made.origin.kept = "newest";
    expect(isTimeComplete(await made.trace())).toBe(false);
    made.origin.kept = "";
    made.tables.backward_calls.scope![made.backward(-1)] = -1;
    expect(isTimeComplete(await made.trace())).toBe(false);
  });

  test("by loop, each iteration is a box, and what is between two belongs to the loop", async () => {
    const made = new TimedTrace();
    made.origin.duration_ns = 100;
    const loop = made.add("loops", { line: 3, words: made.text("epoch") });
    for (const [number, start] of [10, 50].entries()) {
      const turn = made.group(`epoch ${number + 1}`, { kind: "turn", className: "" });
      const scope = made.tables.groups.scope![turn]!;
      made.add("turns", { scope, loop, number: number + 1, value: 0 });
      made.at("relu", start, start + 10, { group: turn });
      made.at("relu", start + 15, start + 20, { group: turn });
    }
    const { grown } = await grow(made, "loop");
    expect(drawn(grown)).toEqual([
      "root -1 100",
      "  before -1 10",
      "  loop 0 60",
      "    group 0 20",
      "      op 0 15 x2",
      "      outside -1 5",
      "    group 1 20",
      "      op 2 15 x2",
      "      outside -1 5",
      "    outside -1 20",
      "  after -1 30",
    ]);
    // By layer, iterations have no boxes; what is between them is outside of all that is shown.
    expect(drawn((await grow(made)).grown)).toEqual([
      "root -1 100",
      "  before -1 10",
      "  op 0 30 x4",
      "  outside -1 30 x3",
      "  after -1 30",
    ]);
  });

  test("by stack, a gap belongs to the innermost frame of both ops", async () => {
    const made = new TimedTrace();
    made.origin.duration_ns = 100;
    const cell = made.stack(made.frame("cell", 1));
    const call = made.stack(made.frame("layers.py", 9, "Layer.__call__", "paddle"), cell);
    const [a, b] = [5, 6].map((line) => made.stack(made.frame("net.py", line, "forward"), call));
    made.at("relu", 0, 10, { stack: a! });
    made.at("relu", 12, 20, { stack: a! });
    made.at("tanh", 30, 40, { stack: b! });
    made.at("mean", 70, 100, { stack: cell });
    const { grown } = await grow(made, "stack");
    expect(drawn(grown)).toEqual([
      "root -1 100",
      "  frame 0 100",
      "    frame 2 20",
      "      op 0 18 x2",
      "      outside -1 2",
      "    frame 3 10",
      "      op 2 10",
      "    op 3 30",
      "    outside -1 40 x2",
    ]);
    const lit = Uint8Array.of(1, 0, 1, 0);
    expect(grown.tree.of(boxAround(grown, lit))).toEqual({ kind: "frame", key: 0 });
    expect(opsInside(grown, lit)[0]).toBe(2);
  });

  test("another thread has a root of its own, from its first op to its last", async () => {
    const made = twoCalls();
    const op = made.at("relu", 320, 340);
    made.tables.ops.thread![op] = 3;
    const { grown, trace } = await grow(made, "layer", 3);
    expect(threadsOf(trace)).toEqual([0, 3]);
    expect(drawn(grown)).toEqual(["root -1 20", `  op ${op} 20`]);
    expectSums((await grow(made)).grown, 1000);
  });

  test("whatever ops nest in, boxes add up, also where times overlap a little", async () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const made = new TimedTrace();
    const groups = [-1];
    for (let at = 0; at < 40; at++)
      groups.push(made.group(`g${random(5)}`, { parent: groups[random(groups.length)]! }));
    let now = random(50);
    for (let at = 0; at < 500; at++) {
      const group = groups[random(groups.length)]!;
      const duration = random(100);
      made.at(`op${random(4)}`, now, now + duration, { group, isPylayer: random(9) === 0 });
      now += random(150);
    }
    made.origin.duration_ns = now + 200;
    for (const nesting of ["layer", "loop"] as const) {
      expectSums((await grow(made, nesting)).grown, now + 200);
    }
  });

  test("kernels are below their op or grad node, and add up without any gap", async () => {
    const made = new TimedTrace();
    made.origin.duration_ns = 1000;
    const fc = made.group("fc", { className: "Linear" });
    made.at("linear", 0, 100, { group: fc });
    made.at("mean", 200, 300);
    const row = { launches: 1, first_kernel_ns: 0, device_kernels: -1, device_ns: -1, gap_ns: -1 };
    made.add("kernel_times", { ...row, op: 0, grad_node: -1, host_ns: 60 });
    made.add("kernel_times", { ...row, op: 1, grad_node: -1, host_ns: 20 });
    made.add("kernel_times", { ...row, op: -1, grad_node: 0, host_ns: 90 });
    made.add("kernel_times", { ...row, op: -1, grad_node: -1, host_ns: 7 });
    const trace = await made.trace();
    const places = placesOf(trace, new Hierarchy(trace), "layer");
    const grown = growKernels(trace, places);
    expect(drawn(grown)).toEqual([
      "root -1 177",
      "  group 0 150",
      "    op 0 60",
      "    grad_node 0 90",
      "  op 1 20",
      "  other -1 7",
    ]);
    expectSums(grown, 177);
    // What ran on a device counts, where it was recorded.
    made.tables.kernel_times.device_ns![0] = 500;
    const onDevice = await made.trace();
    expect(growKernels(onDevice, places).tree.total_ns(0)).toBe(500);
  });
});

describe("an icicle", () => {
  test("draws narrow boxes as one, which adds up what it hides", async () => {
    const made = new TimedTrace();
    made.origin.duration_ns = 10_000;
    for (let at = 0; at < 100; at++) made.at(`op${at}`, at * 5, at * 5 + 5);
    made.at("long", 500, 10_000);
    const { grown } = await grow(made);
    const boxes = icicle(grown.tree, { box: 0 }, 1000);
    const inner = boxes.filter(({ row }) => row === 1);
    expect(inner.map(({ total_ns, only }) => [total_ns, only?.length])).toEqual([
      [9500, undefined],
      [500, 100],
    ]);
    expect(inner[1]!.left_px).toBeCloseTo(950);
    expect(inner[1]!.width_px).toBeCloseTo(50);
    // A zoom into it shows all of them.
    const { box, only } = inner[1]!;
    const near = icicle(grown.tree, { box, only: only! }, 1000).filter(({ row }) => row === 1);
    expect(near).toHaveLength(100);
    expect(near.reduce((sum, { width_px }) => sum + width_px, 0)).toBeCloseTo(1000);
  });
});
