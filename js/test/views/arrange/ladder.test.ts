import { expect, test } from "vitest";
import { layoutNested } from "../../../src/layout/index.ts";
import { Store } from "../../../src/model/state/store.ts";
import { arrangeLadder } from "../../../src/views/arrange/ladder_rows.ts";
import { composeLadder } from "../../../src/views/arrange/ladder_scene.ts";
import type { TextMeasure } from "../../../src/views/scene/measure.ts";
import type { Scene, SceneBox } from "../../../src/views/scene/scene.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";
import { encoder } from "../../records/synthetic_nets.ts";

/** Letters of one width: a layout's properties do not hang on the font. */
const MEASURE = {
  width: (text: string) => 7 * text.length,
  fit: (text: string) => text,
} as unknown as TextMeasure;

async function ladderOf(made: SyntheticTrace): Promise<{ store: Store; scene: Scene }> {
  const store = new Store(await made.trace());
  store.openAll();
  store.update({ mode: "ladder" });
  return { store, scene: ladderIn(store) };
}

function ladderIn(store: Store): Scene {
  const arrangement = arrangeLadder(store, MEASURE);
  return composeLadder(store, arrangement, layoutNested(arrangement.graph));
}

test("the label of a group has all of its ops, and how many of them are in the picture", async () => {
  const trace = new SyntheticTrace();
  for (const step of [1, 2]) {
    const group = trace.group(`step ${step}`, { kind: "turn", className: "", structure: 1 });
    trace.op("relu", { group });
    trace.op("sgd_", { group, phase: "optimizer" });
  }
  const store = new Store(await trace.trace());
  store.closeAll();
  const labels = () =>
    arrangeLadder(store, MEASURE).contents.map((box) => `${box?.label}: ${box?.sublabel}`);
  expect(labels()).toEqual(["step 1–2 ×2: 2 × 1 of 2 ops"]);
  store.update({ showOptimizer: true });
  expect(labels()).toEqual(["step 1–2 ×2: 2 × 2 ops"]);
});

test("every grad node stands on the row of its op, right of all that is left of it", async () => {
  const { store, scene } = await ladderOf(encoder(2));
  const gradBoxes = scene.boxes.filter((box) => box.gradNode >= 0);
  expect(gradBoxes).toHaveLength(11);
  for (const right of gradBoxes) {
    const op = store.trace.at("grad_nodes", "op", right.gradNode);
    const left = scene.boxes.find((box) => box.op === op)!;
    expect(Math.abs(right.y - left.y)).toBeLessThanOrEqual(left.height / 2);
    for (const other of scene.boxes.filter((box) => box.op >= 0)) {
      if (Math.abs(other.y - right.y) < (other.height + right.height) / 2) {
        expect(right.x - right.width / 2).toBeGreaterThan(other.x + other.width / 2);
      }
    }
  }
});

test("gradients flow up between the boxes of their grad nodes", async () => {
  const { scene } = await ladderOf(encoder(2));
  const gradients = scene.edges.filter((edge) => edge.phase === "backward");
  expect(gradients).toHaveLength(12);
  for (const edge of gradients) {
    const [from, to] = [scene.boxes[edge.source]!, scene.boxes[edge.target]!];
    expect(edge.pathY[0]).toBeCloseTo(from.y - from.height / 2);
    expect(edge.pathY[edge.pathY.length - 1]).toBeCloseTo(to.y + to.height / 2);
    expect(from.y).toBeGreaterThan(to.y);
  }
});

test("an op with two grad nodes has a row for both, in the order gradients pass them", async () => {
  const made = encoder(1);
  const lastOp = made.tables.ops.name!.length - 1;
  const second = made.gradNode("ScaleGradNode", { op: lastOp });
  const first = made.tables.grad_nodes.op!.indexOf(lastOp);
  made.add("grad_edges", { source: first, target: second, shape: made.text("[]") });
  made.add("backward_members", { backward_call: 0, grad_node: second });
  const { scene } = await ladderOf(made);
  const box = (gradNode: number) => scene.boxes.find((at) => at.gradNode === gradNode)!;
  expect(box(first).y - box(second).y).toBeGreaterThanOrEqual(box(first).height);
  const row = scene.boxes.find((at) => at.op === lastOp)!;
  for (const node of [first, second]) {
    expect(Math.abs(box(node).y - row.y) + box(node).height / 2).toBeLessThanOrEqual(
      row.height / 2 + 0.01,
    );
  }
});

test("the columns are as near to each other as what stands beside each other allows", async () => {
  const { scene } = await ladderOf(encoder(2));
  const isLeft = (box: SceneBox): boolean => box.gradNode < 0;
  const sideOf = (box: SceneBox, side: 1 | -1): number =>
    box.chips.reduce(
      (at, { x, width }) => Math[side > 0 ? "max" : "min"](at, box.x + x + (side * width) / 2),
      box.x + (side * box.width) / 2,
    );
  let nearest = Number.POSITIVE_INFINITY;
  for (const left of scene.boxes.filter(isLeft)) {
    for (const right of scene.boxes.filter((box) => !isLeft(box))) {
      if (Math.abs(left.y - right.y) < (left.height + right.height) / 2) {
        nearest = Math.min(nearest, sideOf(right, -1) - sideOf(left, 1));
      }
    }
  }
  expect(nearest).toBeGreaterThanOrEqual(43.9);
  // A line and its words stand between some of them.
  expect(nearest).toBeLessThan(100);
});

test("without a backward side nothing is called one", async () => {
  const made = new SyntheticTrace();
  made.op("relu");
  const { scene } = await ladderOf(made);
  expect(scene.labels.map(({ text }) => text)).toEqual(["forward ↓"]);
});

test("one frame goes across both columns where nothing lies beside it", async () => {
  const { scene } = await ladderOf(encoder(2));
  for (const frame of scene.frames) {
    const inside = scene.boxes.filter(
      (box) =>
        Math.abs(box.y - frame.y) < frame.height / 2 && Math.abs(box.x - frame.x) < frame.width / 2,
    );
    expect(inside.some((box) => box.op >= 0)).toBe(true);
    expect(inside.some((box) => box.gradNode >= 0)).toBe(true);
  }
  expect(new Set(scene.frames.map((frame) => frame.group)).size).toBe(scene.frames.length);
});

test("a fold of training steps says how many grad nodes of one step's backward it holds", async () => {
  const made = new SyntheticTrace();
  for (let turn = 0; turn < 4; turn++) {
    const group = made.group(`iteration ${turn + 1}`, { kind: "region", structure: 3 });
    const weight = made.tensor("[4]", { kind: "parameter", path: "w" });
    let out = [weight];
    for (const name of ["relu", "tanh", "mean"]) {
      const op = made.op(name, { group, inputs: out });
      out = op.out;
      if (name === "mean") {
        made.backward(op.gradNode);
      }
    }
  }
  const store = new Store(await made.trace());
  store.update({ mode: "ladder", backwardCall: 3 });
  const { rows } = arrangeLadder(store, MEASURE);
  const folds = rows.flat().filter((box) => box.kind === "fold");
  expect(folds.map((box) => box.sublabel)).toEqual(["Layer · 3 grad nodes"]);
});

test("what paddle.grad made is in the layer's group, and in a ladder on the row of the call", async () => {
  const made = new SyntheticTrace();
  const layer = made.group("net");
  const first = made.op("tanh", { group: layer });
  const second = made.op("tanh", { group: layer, inputs: first.out });
  const call = made.op("paddle.grad", { phase: "backward", inputs: second.out });
  const loss = made.op("mean", { inputs: call.out });
  const between = made.gradNode("AddDoubleGradNode", { op: call.op, group: layer });
  made.add("grad_edges", { source: loss.gradNode, target: between, shape: made.text("[]") });
  made.add("grad_edges", { source: between, target: first.gradNode, shape: made.text("[]") });
  made.backward(loss.gradNode);
  const store = new Store(await made.trace());
  store.closeAll();
  store.update({ mode: "ladder" });
  const scene = ladderIn(store);
  expect(store.hierarchy.groupOfGradNode[between]).toBe(layer);
  const at = scene.boxes.findIndex(({ gradNode }) => gradNode === between);
  expect(scene.boxes[at]!.y).toBeCloseTo(scene.boxes.find(({ op }) => op === call.op)!.y);
  const closed = scene.boxes.findIndex(({ id }) => id.endsWith(":backward"));
  expect(scene.boxes[closed]!.sublabel).toContain("1 grad node");
  expect(scene.edges).toContainEqual(expect.objectContaining({ source: at, target: closed }));
  store.select({ kind: "grad_node", gradNode: between }, { reveal: true });
  expect(store.state.open.has(layer)).toBe(false);
});

test("a trace without ops has no columns to name", async () => {
  const { scene } = await ladderOf(new SyntheticTrace());
  expect(scene.labels).toEqual([]);
});

test("what has no grad nodes does not stand between what has", async () => {
  const made = new SyntheticTrace();
  const weight = made.tensor("[4]", { kind: "parameter", path: "w" });
  let x = [weight];
  for (let i = 0; i < 4; i++) x = made.op("relu", { inputs: x }).out;
  let label = [made.tensor("[4]", { kind: "external" })];
  for (let i = 0; i < 4; i++) label = made.op("cast", { inputs: label, hasGrad: false }).out;
  const loss = made.op("mse", { inputs: [...x, ...label] });
  made.backward(loss.gradNode);
  const { scene } = await ladderOf(made);
  const xOf = (name: string): number => scene.boxes.find(({ label: it }) => it === name)!.x;
  expect(xOf("cast")).toBeLessThan(xOf("relu"));
  const nodes = scene.boxes.filter(({ gradNode }) => gradNode >= 0);
  expect(Math.min(...nodes.map((box) => box.x)) - xOf("relu")).toBeLessThan(230);
});

test("turns that stand beside each other are read from the left, whichever has gradients", async () => {
  const made = new SyntheticTrace();
  const weight = made.tensor("[4]", { kind: "parameter", path: "w" });
  for (const [turn, names] of [
    ["epoch 1", ["relu", ...Array(12).fill("tanh"), "mean"]],
    ["epoch 2", ["cast", ...Array(12).fill("abs"), "sum"]],
  ] as const) {
    const group = made.group(turn, { kind: "turn", className: "", structure: 1 });
    let inputs = [weight];
    for (const name of names) {
      const step = made.op(name, { group, inputs, hasGrad: turn === "epoch 1" });
      inputs = step.out;
      if (name === "mean") made.backward(step.gradNode);
    }
  }
  const { scene } = await ladderOf(made);
  const xOf = (name: string): number => scene.boxes.find(({ label: it }) => it === name)!.x;
  expect(xOf("relu")).toBeLessThan(xOf("cast"));
});
