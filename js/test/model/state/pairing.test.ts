import { expect, test } from "vitest";
import { Store } from "../../../src/model/state/store.ts";
import { encoder } from "../../records/synthetic_nets.ts";

const keys = (lit: Uint8Array): number[] => Array.from(lit.keys()).filter((key) => lit[key]);

test("an op lights its grad node, and the grad node its op", async () => {
  const store = new Store(await encoder(2).trace());
  const op = 2;
  store.select({ kind: "op", op });
  expect(keys(store.litOps())).toEqual([op]);
  const nodes = keys(store.litGradNodes());
  expect(nodes).toEqual(Array.from(store.trace.gradNodesOfOp(op)));
  expect(nodes.length).toBe(1);
  store.select({ kind: "grad_node", gradNode: nodes[0]! });
  expect(keys(store.litOps())).toEqual([op]);
  expect(keys(store.litGradNodes())).toEqual(nodes);
});

test("a line lights every op whose stack passes through it", async () => {
  const { trace } = { trace: await encoder(2).trace() };
  const store = new Store(trace);
  const file = trace.strings.indexOf("/tmp/ipykernel_1/4.py");
  store.select({ kind: "line", file, line: 2 });
  // All but the loss; the linear ops are called from inside Paddle.
  expect(keys(store.litOps())).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  store.select({ kind: "line", file, line: 3 });
  expect(keys(store.litOps())).toEqual([10]);
  store.select({
    kind: "line",
    file: trace.strings.indexOf("paddle/nn/layer/common.py"),
    line: 190,
  });
  expect(keys(store.litOps())).toEqual([0, 1, 3, 5, 7, 9]);
});

test("a group lights what is in it at any depth, and the groups around", async () => {
  const store = new Store(await encoder(2).trace());
  const block = 2;
  expect(store.trace.groupLabel(block)).toBe("blocks.0");
  store.select({ kind: "group", group: block });
  expect(keys(store.litOps())).toEqual([1, 2, 3, 4]);
  expect(keys(store.litGroups())).toEqual([0, 2, 3, 4]);
});

test("a tensor lights who made it and who reads it", async () => {
  const store = new Store(await encoder(1).trace());
  const tensor = store.trace.at("uses", "tensor", store.trace.outputsOf(0)[0]!);
  store.select({ kind: "tensor", tensor });
  // The residual: read by the block's first layer and by its add.
  expect(keys(store.litOps())).toEqual([0, 1, 4]);
});
