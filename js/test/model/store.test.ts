import { expect, test } from "vitest";
import { Store } from "../../src/model/store.ts";
import { visibleForward } from "../../src/model/visible.ts";
import { encoder, SyntheticTrace } from "../synthetic.ts";

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
