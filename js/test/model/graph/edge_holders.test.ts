import { expect, test } from "vitest";
import { edgesWithin } from "../../../src/model/graph/edge_holders.ts";
import { Store } from "../../../src/model/state/store.ts";
import { visibleBackward, visibleForward } from "../../../src/model/visible/visible_tree.ts";
import { encoder } from "../../records/synthetic_nets.ts";

/** As one would find them by looking at every edge of the trace. */
function seen(
  columns: { source: ArrayLike<number>; target: ArrayLike<number> },
  boxOf: (key: number) => number,
): number[] {
  return Array.from(columns.source, (_, edge) => edge).filter((edge) => {
    const [from, to] = [boxOf(columns.source[edge]!), boxOf(columns.target[edge]!)];
    return from >= 0 && to >= 0 && from !== to;
  });
}

test.each([
  ["nothing", []],
  ["the net", [0]],
  ["a block in a folded run", [0, 2]],
] as const)("with %s open, the edges of what is open are those that are seen", async (_, open) => {
  const { trace, hierarchy, state } = new Store(await encoder(4).trace());
  const opened = { ...state, open: new Set(open), unfolded: new Set([2]) };
  const forward = visibleForward(trace, hierarchy, opened);
  const edges = trace.table("op_edges");
  const held = edgesWithin(trace, hierarchy, "ops", forward.walked);
  expect(Array.from(held)).toEqual([...held].sort((a, b) => a - b));
  expect(Array.from(held)).toEqual(
    expect.arrayContaining(
      seen({ source: edges.column("source"), target: edges.column("target") }, forward.boxOfOp),
    ),
  );
  const backward = visibleBackward(trace, hierarchy, opened);
  const grad = trace.table("grad_edges");
  expect(Array.from(edgesWithin(trace, hierarchy, "grad_nodes", backward.walked))).toEqual(
    expect.arrayContaining(
      seen(
        { source: grad.column("source"), target: grad.column("target") },
        backward.boxOfGradNode,
      ),
    ),
  );
});

test("what is closed is not looked into", async () => {
  const { trace, hierarchy, state } = new Store(await encoder(4).trace());
  const closed = visibleForward(trace, hierarchy, { ...state, open: new Set() });
  const held = edgesWithin(trace, hierarchy, "ops", closed.walked);
  expect(held.length).toBeLessThan(trace.table("op_edges").length / 4);
});
