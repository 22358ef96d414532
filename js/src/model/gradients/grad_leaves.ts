/** Grad nodes of leaf tensors. They only accumulate gradients. */
import { kept } from "../../trace/kept.ts";
import type { Trace } from "../../trace/trace.ts";

/** Whether a grad node only accumulates gradients into a parameter or another leaf tensor. */
export function isLeaf(trace: Trace, gradNode: number): boolean {
  return leafMask(trace)[gradNode] === 1;
}

/** 1 for the grad nodes of leaf tensors. */
export function leafMask(trace: Trace): Uint8Array {
  return kept(trace, "leaves", () => {
    const [op, parameter, name] = trace.columns("grad_nodes", "op", "parameter", "name");
    const isAccumulation = new Map<number, boolean>();
    const mask = new Uint8Array(trace.gradNodeCount);
    for (let node = 0; node < mask.length; node++) {
      if (op[node]! >= 0) {
        continue;
      }
      let isNamed = isAccumulation.get(name[node]!);
      if (isNamed === undefined) {
        isNamed = trace.text(name[node]!).startsWith("GradNodeAccumulation");
        isAccumulation.set(name[node]!, isNamed);
      }
      mask[node] = parameter[node]! >= 0 || isNamed ? 1 : 0;
    }
    return mask;
  });
}
