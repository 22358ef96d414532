import { expect, test } from "vitest";
import { Store } from "../../../src/model/state/store.ts";
import type { Selection, Way } from "../../../src/model/state/view_state.ts";
import { visibleBackward, visibleForward } from "../../../src/model/visible/visible_tree.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";
import { encoder } from "../../records/synthetic_nets.ts";

/** x → a → b → d, x → c → d, d → e; f reads nothing of them. */
async function diamond() {
  const made = new SyntheticTrace();
  const x = made.tensor("[4]", { kind: "external" });
  const [left, right] = ["left", "right"].map((path) => made.group(path));
  const a = made.op("a", { inputs: [x], group: left });
  const b = made.op("b", { inputs: a.out, group: left });
  const c = made.op("c", { inputs: [x], group: right });
  const d = made.op("d", { inputs: [b.out[0]!, c.out[0]!] });
  made.op("e", { inputs: d.out });
  made.op("f", { inputs: [made.tensor("[4]", { kind: "external" })] });
  made.roots.push(d.gradNode);
  const store = new Store(await made.trace());
  const keys = { a, b, c, d };
  const names = (mask: Uint8Array, label: (key: number) => string): string =>
    Array.from(mask, (isLeft, key) => (isLeft ? label(key) : "")).join("");
  const left_of = (way: Way, from: Selection, to?: Selection): string => {
    store.showAll();
    if (!store.isolate(way, from, to)) return "nothing";
    return names(store.state.isolation!.ops, (op) => store.trace.opLabel(op));
  };
  const nodes = (): string =>
    names(store.state.isolation!.gradNodes, (node) => store.trace.gradNodeLabel(node)[0]!);
  return { store, keys, x, left, right, left_of, nodes };
}

const op = (key: { op: number }): Selection => ({ kind: "op", op: key.op });

test("what is left is what the selection depends on, or what depends on it", async () => {
  const { keys, x, left, left_of, nodes } = await diamond();
  expect(left_of("ancestors", op(keys.d))).toBe("abcd");
  expect(nodes()).toBe("ABCD");
  expect(left_of("descendants", op(keys.b))).toBe("bde");
  expect(left_of("descendants", { kind: "tensor", tensor: x })).toBe("abcde");
  expect(left_of("ancestors", { kind: "tensor", tensor: x })).toBe("nothing");
  expect(left_of("descendants", { kind: "tensor", tensor: keys.b.out[0]! })).toBe("de");
  expect(left_of("ancestors", { kind: "group", group: left! })).toBe("ab");
  expect(left_of("neighbours", op(keys.b))).toBe("abd");
});

test("the way between two is all paths, in either order; there may be none", async () => {
  const { keys, left, right, left_of } = await diamond();
  expect(left_of("between", op(keys.a), op(keys.d))).toBe("abd");
  expect(left_of("between", op(keys.d), op(keys.a))).toBe("abd");
  expect(left_of("between", op(keys.b), op(keys.c))).toBe("nothing");
  const group = (key: number): Selection => ({ kind: "group", group: key });
  expect(left_of("between", group(left!), group(right!))).toBe("nothing");
  expect(left_of("between", group(left!), op(keys.d))).toBe("abd");
});

test("in a backward picture the way goes along the gradients", async () => {
  const { store, keys, left_of, nodes } = await diamond();
  store.update({ mode: "backward" });
  expect(left_of("descendants", { kind: "grad_node", gradNode: keys.b.gradNode })).toBe("ab");
  expect(nodes()).toBe("AB");
  expect(left_of("ancestors", { kind: "grad_node", gradNode: keys.b.gradNode })).toBe("bde");
  const tree = visibleBackward(store.trace, store.hierarchy, store.state);
  expect(tree.boxOfGradNode(keys.c.gradNode)).toBe(-1);
});

test("all else is hidden, and undo or one call shows it again as it was", async () => {
  const store = new Store(await encoder(3).trace());
  const shown = (): string[] =>
    visibleForward(store.trace, store.hierarchy, store.state).items.map(({ id }) => id);
  const before = [shown(), store.state.open] as const;
  store.isolate("neighbours", { kind: "op", op: 6 });
  const isolated = shown();
  expect(isolated).not.toContain("op:0");
  store.showAll();
  expect([shown(), store.state.open]).toEqual(before);
  store.undo();
  expect(shown()).toEqual(isolated);
  store.undo();
  expect(shown()).toEqual(before[0]);
});

test("a member of a run of which something is hidden is not in a fold with the others", async () => {
  const store = new Store(await encoder(12).trace());
  const { trace, hierarchy } = store;
  store.closeAll();
  // Open the net and leave its blocks in one fold.
  store.setOpen(0, true);
  const gelu = Array.from({ length: trace.opCount }, (_, key) => key).filter(
    (key) => trace.opLabel(key) === "gelu",
  )[7]!;
  store.isolate("ancestors", { kind: "op", op: gelu });
  const { items } = visibleForward(trace, hierarchy, store.state);
  const fold = items.find(({ kind }) => kind === "fold")!;
  expect(fold.leafCount).toBe(7 * 4);
  const member = items.filter(({ kind, parent }) => kind === "group" && parent === 0);
  expect(member.map(({ leafCount }) => leafCount)).toEqual([2]);
});

test("revealing something hidden shows the whole graph", async () => {
  const store = new Store(await encoder(3).trace());
  store.isolate("ancestors", { kind: "op", op: 3 });
  store.select({ kind: "op", op: 2 }, { reveal: true });
  expect(store.state.isolation).toBeDefined();
  store.select({ kind: "op", op: 9 }, { reveal: true });
  expect(store.state.isolation).toBeUndefined();
});
