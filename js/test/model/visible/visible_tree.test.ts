import { expect, test } from "vitest";
import { Hierarchy } from "../../../src/model/graph/hierarchy.ts";
import { runLabel } from "../../../src/model/graph/runs.ts";
import { Store } from "../../../src/model/state/store.ts";
import { withParameters } from "../../../src/model/visible/parameters.ts";
import { backwardEdges, forwardEdges } from "../../../src/model/visible/visible_edges.ts";
import {
  type VisibleTree,
  visibleBackward,
  visibleForward,
} from "../../../src/model/visible/visible_tree.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";
import { chain, encoder } from "../../records/synthetic_nets.ts";

const ids = (tree: VisibleTree): string[] => tree.items.map((item) => item.id);

test("repeated siblings are one fold, and members once it is unfolded", async () => {
  const store = new Store(await encoder(3).trace());
  const net = 0;
  const folded = visibleForward(store.trace, store.hierarchy, {
    ...store.state,
    open: new Set([net]),
  });
  expect(ids(folded)).toEqual(["group:0", "op:0", "fold:2", "op:13", "op:14"]);
  const unfolded = visibleForward(store.trace, store.hierarchy, {
    ...store.state,
    open: new Set([net]),
    unfolded: new Set([2]),
  });
  expect(ids(unfolded)).toEqual([
    "group:0",
    "op:0",
    "group:2",
    "group:5",
    "group:8",
    "op:13",
    "op:14",
  ]);
});

test("an op between two repeats keeps them apart: folded, it would close a cycle", async () => {
  const made = new SyntheticTrace();
  let tensor = made.tensor("[4]");
  for (let i = 0; i < 3; i++) {
    const block = made.group(`blocks.${i}`, { structure: 1 });
    tensor = made.op("matmul", { group: block, inputs: [tensor] }).out[0]!;
    tensor = made.op("relu", { group: block, inputs: [tensor] }).out[0]!;
    tensor = made.op("scale", { inputs: [tensor] }).out[0]!;
  }
  expect(new Hierarchy(await made.trace()).runFirsts()).toEqual([]);
});

test("a layer with one op is drawn as that op, under the layer's name", async () => {
  const store = new Store(await encoder(1).trace());
  const tree = visibleForward(store.trace, store.hierarchy, { ...store.state, open: new Set([0]) });
  const [, embed] = tree.items;
  expect([embed!.id, embed!.through]).toEqual(["op:0", "embed"]);
});

test("edges end at the closed group that holds their op, each pair of boxes once", async () => {
  const store = new Store(await encoder(1).trace());
  const tree = visibleForward(store.trace, store.hierarchy, { ...store.state, open: new Set([0]) });
  const edges = forwardEdges(store.trace, tree);
  const pairs = edges.map(({ source, target }) => [tree.items[source]!.id, tree.items[target]!.id]);
  expect(pairs).toEqual([
    ["op:0", "group:2"],
    ["group:2", "op:5"],
    ["op:5", "op:6"],
  ]);
  // The residual is one tensor, though two ops of the block read it.
  expect(edges.map(({ count }) => count)).toEqual([1, 1, 1]);
});

test("gradients flow against the data, and leaves stay out of the picture until asked for", async () => {
  const store = new Store(await encoder(1).trace());
  const state = { ...store.state, open: new Set([0, 2]) };
  const tree = visibleBackward(store.trace, store.hierarchy, state);
  const names = tree.items.map((item) =>
    item.kind === "grad_node" ? store.trace.gradNodeLabel(item.key) : item.id,
  );
  expect(names).toEqual([
    "MeanGrad",
    "group:0",
    "LinearGrad",
    "group:2",
    "AddGrad",
    "LinearGrad",
    "GeluGrad",
    "LinearGrad",
    "LinearGrad",
  ]);
  for (const { source, target } of backwardEdges(store.trace, tree)) {
    expect(tree.items[source]!.order).toBeGreaterThan(tree.items[target]!.order);
  }
  const withLeaves = visibleBackward(store.trace, store.hierarchy, {
    ...state,
    showParameters: true,
  });
  expect(withLeaves.items.length).toBe(tree.items.length + 8);
});

test("optimizer ops are hidden until asked for", async () => {
  const made = encoder(1);
  const step = made.group("Adam.step", { kind: "optimizer" });
  made.op("adam_", { group: step, phase: "optimizer" });
  const store = new Store(await made.trace());
  expect(ids(visibleForward(store.trace, store.hierarchy, store.state))).not.toContain(
    `group:${step}`,
  );
  const shown = visibleForward(store.trace, store.hierarchy, {
    ...store.state,
    showOptimizer: true,
  });
  expect(ids(shown).at(-1)).toBe(`group:${step}`);
});

test("ops of initializers are hidden if other ops ran; selecting one shows them", async () => {
  const initialized = (made: SyntheticTrace) => made.op("gaussian", { isInitial: true }).op;
  const made = encoder(1);
  const op = initialized(made);
  const store = new Store(await made.trace());
  const drawn = () => ids(visibleForward(store.trace, store.hierarchy, store.state));
  expect(drawn()).not.toContain(`op:${op}`);
  store.select({ kind: "op", op }, { reveal: true });
  expect(drawn()).toContain(`op:${op}`);
  const alone = new SyntheticTrace();
  initialized(alone);
  const other = new Store(await alone.trace());
  expect(ids(visibleForward(other.trace, other.hierarchy, other.state))).toEqual(["op:0"]);
});

test("a parameter's box is in the group around all its readers", async () => {
  const made = new SyntheticTrace();
  const net = made.group("net");
  const left = made.group("left", { parent: net, kind: "region" });
  const right = made.group("right", { parent: net, kind: "region" });
  const weight = made.tensor("[4]", { kind: "parameter", path: "weight" });
  const own = made.tensor("[4]", { kind: "parameter", path: "left.own" });
  made.op("scale", { group: left, inputs: [weight, own] });
  made.op("scale", { group: right, inputs: [weight] });
  const store = new Store(await made.trace());
  const state = { ...store.state, open: new Set([net, left, right]) };
  const tree = withParameters(store.trace, visibleForward(store.trace, store.hierarchy, state));
  const parentOf = (id: string): string | undefined => {
    const item = tree.items.find((other) => other.id === id)!;
    return tree.items[item.parent]?.id;
  };
  expect(parentOf(`tensor:${weight}`)).toBe(`group:${net}`);
  expect(parentOf(`tensor:${own}`)).toBe(`group:${left}`);
});

test("what a PyLayer's backward ran is inside the PyLayer, on the backward side only", async () => {
  const made = new SyntheticTrace();
  const forward = made.group("Swish", { kind: "pylayer" });
  const input = made.tensor("[4]");
  const inner = made.op("sigmoid", { group: forward, inputs: [input], hasGrad: false });
  const own = made.op("Swish", { group: forward, inputs: [inner.out[0]!], isPylayer: true });
  made.tables.scopes.op![made.tables.groups.scope![forward]!] = own.op;
  made.backward(own.gradNode);
  const call = made.group("Tensor.backward", { kind: "backward" });
  made.tables.scopes.backward_call![made.tables.groups.scope![call]!] = 0;
  const backward = made.group("Swish", { kind: "pylayer", parent: call });
  made.tables.scopes.op![made.tables.groups.scope![backward]!] = own.op;
  const product = made.op("multiply", { group: backward, phase: "backward" });
  const store = new Store(await made.trace());
  const open = new Set([forward]);
  const left = visibleForward(store.trace, store.hierarchy, { ...store.state, open });
  expect(ids(left)).toEqual([`group:${forward}`, `op:${inner.op}`, `op:${own.op}`]);
  const right = visibleBackward(store.trace, store.hierarchy, { ...store.state, open });
  expect(ids(right)).toEqual([`group:${forward}`, `grad_node:${own.gradNode}`, `op:${product.op}`]);
  expect(backwardEdges(store.trace, right)[0]).toMatchObject({ source: 1, target: 2 });
  store.select({ kind: "op", op: product.op }, { reveal: true });
  expect(store.state.mode).toBe("backward");
});

// To write such traces takes longer than to read them.
test("deep nesting and long chains overflow no stack", { timeout: 20_000 }, async () => {
  const made = new SyntheticTrace();
  let group = -1;
  for (let depth = 0; depth < 3000; depth++) {
    group = made.group(`g${depth}`, { parent: group, kind: "region" });
  }
  made.op("relu", { group });
  const deep = new Store(await made.trace());
  deep.openAll();
  expect(visibleForward(deep.trace, deep.hierarchy, deep.state).items.length).toBe(3001);
  const long = new Store(await chain(20_000).trace());
  const tree = visibleForward(long.trace, long.hierarchy, long.state);
  expect(tree.items.length).toBe(20_000);
  expect(forwardEdges(long.trace, tree).length).toBe(19_999);
});

test.each([
  [["layers.0", "layers.11"], "layers.0–11"],
  [["0", "1"], "0–1"],
  [["left", "right"], "left … right"],
  [["relu", "relu"], "relu"],
] as const)("%j is labelled %s", ([first, last], label) => {
  expect(runLabel(first, last)).toBe(label);
});
