/** The trace that warms the page up is one as kernels send them. */
import { expect, test } from "vitest";
import { atOnce } from "../src/model/steps.ts";
import { Store } from "../src/model/store.ts";
import { Trace } from "../src/model/trace.ts";
import { unpack } from "../src/model/unpack.ts";
import { visibleBackwardSteps, visibleForwardSteps } from "../src/model/visible.ts";
import { madePayload } from "../src/warm_up/made_payload.ts";

const COUNT = 512;

test("it is read, whole and without a fault", async () => {
  const trace = new Trace(await unpack(await madePayload(COUNT)));
  expect(() => atOnce(trace.readRest())).not.toThrow();
  expect([trace.opCount, trace.gradNodeCount]).toEqual([COUNT, COUNT]);
  expect(trace.opLabel(COUNT - 1)).toBe("add");
  expect(trace.sourceOf(trace.ownFrameOf(7))?.lines[7]).toContain("tanh");
  const start_ns = trace.table("ops").column("start_ns");
  expect(start_ns[9]! - start_ns[8]!).toBe(900);
});

test("its picture has ops in a line, and layers that are folded, on both sides", async () => {
  const { trace, hierarchy, state } = new Store(new Trace(await unpack(await madePayload(COUNT))));
  const kinds = (items: readonly { kind: string }[]) => new Set(items.map(({ kind }) => kind));
  const forward = atOnce(visibleForwardSteps(trace, hierarchy, state)).items;
  expect(kinds(forward)).toEqual(new Set(["op", "fold"]));
  expect(forward.length).toBe(1 + (3 * COUNT) / 4);
  const backward = atOnce(visibleBackwardSteps(trace, hierarchy, state)).items;
  expect(kinds(backward)).toEqual(new Set(["grad_node", "fold"]));
});
