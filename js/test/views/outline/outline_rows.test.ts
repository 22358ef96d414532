import { expect, test } from "vitest";
import { membersOf } from "../../../src/model/gradients/backward_calls.ts";
import { Store } from "../../../src/model/state/store.ts";
import { withParameters } from "../../../src/model/visible/parameters.ts";
import { visibleForward } from "../../../src/model/visible/visible_tree.ts";
import { OutlineRows } from "../../../src/views/outline/outline_rows.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";
import { encoder } from "../../records/synthetic_nets.ts";

async function opened(): Promise<Store> {
  const store = new Store(await encoder(2).trace());
  store.openAll();
  return store;
}

test("rows are written one by one, each below its parent, with its place among its siblings", async () => {
  const store = await opened();
  const { trace, hierarchy, state } = store;
  const tree = withParameters(trace, visibleForward(trace, hierarchy, state));
  const rows = new OutlineRows(store, tree);
  expect(rows.length).toBe(tree.items.length);
  const met = new Set<string>();
  for (let at = 0; at < rows.length; at++) {
    const row = rows.at(at);
    expect(met.has(row.id)).toBe(false);
    met.add(row.id);
    const around = rows.around(at);
    expect(row.level).toBe(around === at ? 1 : rows.at(around).level + 1);
    // Between a row and what is around it lies nothing less deep.
    for (let between = around + 1; between < at; between++) {
      expect(rows.at(between).level).toBeGreaterThanOrEqual(row.level);
    }
    expect(row.position).toBeLessThanOrEqual(row.siblings);
    expect(rows.label(at)).toBe(row.label);
  }
});

test("in a ladder the grad nodes of an op are rows below it", async () => {
  const store = await opened();
  const { trace, hierarchy, state } = store;
  const tree = visibleForward(trace, hierarchy, state);
  const rows = new OutlineRows(store, tree, membersOf(trace, state.backwardCall));
  const at = rows.rowOf({ kind: "op", op: 2 });
  const [node] = trace.gradNodesOfOp(2);
  expect(rows.at(at)).toMatchObject({ op: 2, expanded: true });
  expect(rows.at(at + 1)).toMatchObject({ gradNode: node, position: 1, siblings: 1 });
  expect(rows.rowOf({ kind: "grad_node", gradNode: node! })).toBe(at + 1);
  expect(rows.around(at + 1)).toBe(at);
  expect(rows.rowOf({ kind: "none" })).toBe(-1);
});

test("a row says of how many ops a group has some, as its box does", async () => {
  const made = new SyntheticTrace();
  const turn = made.group("step 1", { kind: "turn" });
  made.op("relu", { group: turn });
  const step = made.group("SGD.step", { kind: "optimizer", parent: turn });
  made.op("sgd_", { group: step, phase: "optimizer" });
  const store = new Store(await made.trace());
  const { trace, hierarchy, state } = store;
  const rows = new OutlineRows(store, visibleForward(trace, hierarchy, state));
  expect(rows.at(0).name).toContain("1 of 2 ops");
});
