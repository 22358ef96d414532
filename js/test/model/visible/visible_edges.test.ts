import { expect, test } from "vitest";
import { Store } from "../../../src/model/state/store.ts";
import { forwardEdges } from "../../../src/model/visible/visible_edges.ts";
import { visibleForward } from "../../../src/model/visible/visible_tree.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";

test("an edge counts each tensor once, however many ops of the box read it", async () => {
  const made = new SyntheticTrace();
  const net = made.group("net");
  const outputs = [0, 1, 2].map(() => made.op("linear", { group: net }).out[0]!);
  const loss = made.group("loss");
  for (const output of outputs) {
    made.op("mean", { group: loss, inputs: [output] });
    made.op("square", { group: loss, inputs: [output] });
  }
  const { trace, hierarchy, state } = new Store(await made.trace());
  const tree = visibleForward(trace, hierarchy, { ...state, open: new Set() });
  expect(forwardEdges(trace, tree).map((edge) => edge.count)).toEqual([3]);
});
