import { expect, test } from "vitest";
import { Store } from "../../../src/model/state/store.ts";
import { visibleForward } from "../../../src/model/visible/visible_tree.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";
import { encoder } from "../../records/synthetic_nets.ts";

test("a change tells every listener once, with what was before", async () => {
  const store = new Store(await encoder(1).trace());
  const told: string[] = [];
  store.subscribe((state, previous) => told.push(`${previous.mode} → ${state.mode}`));
  store.update({ mode: "ladder", showShapes: false });
  expect(told).toEqual(["forward → ladder"]);
});

test("revealing opens every group around and unfolds the run", async () => {
  const store = new Store(await encoder(3).trace());
  store.closeAll();
  const op = 6; // gelu of the second block
  const isVisible = (): boolean =>
    visibleForward(store.trace, store.hierarchy, store.state).items.some(
      ({ id }) => id === `op:${op}`,
    );
  expect(isVisible()).toBe(false);
  let revealed = 0;
  store.onReveal.add(() => revealed++);
  store.select({ kind: "op", op }, { reveal: true });
  expect(isVisible()).toBe(true);
  expect(revealed).toBe(1);
});

test("selecting without revealing opens nothing", async () => {
  const store = new Store(await encoder(3).trace());
  store.closeAll();
  const { open } = store.state;
  store.select({ kind: "op", op: 6 });
  expect(store.state.open).toBe(open);
});

test("undo takes back what was opened, redo opens it again, and neither touches the selection", async () => {
  const store = new Store(await encoder(3).trace());
  store.closeAll();
  store.setOpen(0, true);
  store.select({ kind: "op", op: 1 });
  store.undo();
  expect([...store.state.open]).toEqual([]);
  expect(store.state.selection).toEqual({ kind: "op", op: 1 });
  store.redo();
  expect([...store.state.open]).toEqual([0]);
  store.undo();
  store.update({ mode: "backward" });
  expect(store.canRedo).toBe(false);
});

test("what is all open, or all closed, is not opened or closed again", async () => {
  const store = new Store(await encoder(3).trace());
  let changes = 0;
  store.subscribe(() => changes++);
  store.openAll();
  expect([changes, store.isAllOpen, store.isAllClosed]).toEqual([1, true, false]);
  store.openAll();
  expect(changes).toBe(1);
  store.undo();
  expect([store.isAllOpen, store.canUndo]).toEqual([false, false]);
  store.closeAll();
  store.closeAll();
  expect([changes, store.isAllClosed]).toEqual([3, true]);
});

test("groups that were opened one by one are all open", async () => {
  const store = new Store(await encoder(3).trace());
  store.closeAll();
  store.setOpen(0, true);
  expect(store.isAllOpen).toBe(false);
  const blocks = [...store.hierarchy.groupsIn(0)].filter(
    (group) => !store.hierarchy.isTransparent[group],
  );
  store.setUnfolded(blocks[0]!, true);
  for (const block of blocks) {
    expect(store.isAllOpen).toBe(false);
    store.setOpen(block, true);
  }
  expect(store.isAllOpen).toBe(true);
});

test("optimizer steps count where they are shown", async () => {
  const made = new SyntheticTrace();
  const net = made.group("net");
  made.op("relu", { group: net });
  made.op("relu", { group: net });
  const step = made.group("step", { kind: "optimizer" });
  made.op("adam_", { group: step, phase: "optimizer" });
  made.op("adam_", { group: step, phase: "optimizer" });
  const store = new Store(await made.trace());
  store.closeAll();
  store.setOpen(net, true);
  expect(store.isAllOpen).toBe(true);
  store.update({ showOptimizer: true });
  expect(store.isAllOpen).toBe(false);
  store.openAll();
  expect(store.isAllOpen).toBe(true);
});

test("a small network is open at first, a large one as far as it can be taken in", async () => {
  const small = new Store(await encoder(1).trace());
  expect([...small.state.open]).toEqual([0, 2]);
  const large = new Store(await encoder(60).trace());
  expect([...large.state.open]).toEqual([0]);
  const flat = new SyntheticTrace();
  const outer = flat.group("outer");
  for (let i = 0; i < 50; i++) {
    const inner = flat.group(`g${i}`, { parent: outer });
    flat.op("relu", { group: inner });
    flat.op("relu", { group: inner });
  }
  const crowded = new Store(await flat.trace());
  // One box would tell nothing; opening one level more would be a hundred.
  expect([...crowded.state.open]).toEqual([outer]);
});

test("the backward call with the largest graph is shown first", async () => {
  const made = encoder(2);
  const lone = made.op("sum", { inputs: [made.tensor("[4]")] });
  made.backward(lone.gradNode);
  const store = new Store(await made.trace());
  expect(store.state.backwardCall).toBe(0);
});

test("of equally large backward calls the first is shown: the first turn of a loop is open", async () => {
  const made = new SyntheticTrace();
  for (let turn = 0; turn < 3; turn++) {
    const loss = made.op("mean", { inputs: [made.tensor("[4]", { kind: "parameter" })] });
    made.backward(loss.gradNode);
  }
  const store = new Store(await made.trace());
  expect(store.state.backwardCall).toBe(0);
});

test("where one fold is all there is, one of its members is open at first, beside the rest", async () => {
  const made = new SyntheticTrace();
  let tensor = made.tensor("[4]");
  for (let at = 0; at < 12; at++) {
    const turn = made.group(`iteration ${at + 1}`, { kind: "region", structure: 3 });
    for (const name of ["matmul", "relu"]) {
      tensor = made.op(name, { group: turn, inputs: [tensor] }).out[0]!;
    }
  }
  const store = new Store(await made.trace());
  const ids = (): string[] =>
    visibleForward(store.trace, store.hierarchy, store.state).items.map(({ id }) => id);
  expect(ids()).toEqual(["group:0", "op:0", "op:1", "fold:1"]);
  store.closeAll();
  expect(ids()).toEqual(["fold:0"]);
});

test("members are taken out of a fold one at a time, and put back together", async () => {
  const store = new Store(await encoder(6).trace());
  const { trace, hierarchy } = store;
  const run = Array.from(hierarchy.runMembers(2));
  expect(run).toEqual([2, 5, 8, 11, 14, 17]);
  store.update({ open: new Set([0]), taken: new Set() });
  const groups = (): string[] =>
    visibleForward(trace, hierarchy, store.state)
      .items.filter(({ kind }) => kind === "group" || kind === "fold")
      .map(({ id }) => id);
  expect(groups()).toEqual(["group:0", "fold:2"]);
  store.takeOut(8);
  expect(groups()).toEqual(["group:0", "fold:2", "group:8", "fold:11"]);
  store.takeOut(5);
  // A member that is left alone is no fold.
  expect(groups()).toEqual(["group:0", "group:2", "group:5", "group:8", "fold:11"]);
  store.undo();
  expect(groups()).toEqual(["group:0", "fold:2", "group:8", "fold:11"]);
  store.setUnfolded(11, true);
  expect(groups()).toHaveLength(7);
  store.setUnfolded(11, false);
  expect(groups()).toEqual(["group:0", "fold:2"]);
});

test("what is revealed in a fold is taken out of it, the rest stays one box", async () => {
  const store = new Store(await encoder(6).trace());
  store.closeAll();
  store.select({ kind: "op", op: 6 }, { reveal: true });
  expect([...store.state.taken]).toEqual([5]);
  expect(store.state.unfolded.size).toBe(0);
});
