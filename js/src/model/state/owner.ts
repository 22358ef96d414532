/** The owner of a memory block in the graph. */

import type { Trace } from "../../trace/trace.ts";
import type { Selection } from "./view_state.ts";

/** The grad node of the block, otherwise its op, otherwise its tensor. */
export function ownerOf(trace: Trace, allocation: number): Selection {
  const gradNode = trace.at("allocations", "grad_node", allocation);
  const op = trace.at("allocations", "op", allocation);
  const tensor = trace.at("allocations", "tensor", allocation);
  if (gradNode >= 0) {
    return { kind: "grad_node", gradNode };
  }
  if (op >= 0) {
    return { kind: "op", op };
  }
  return tensor >= 0 ? { kind: "tensor", tensor } : { kind: "none" };
}

/** The same selection in the graph. For a memory block this is its owner. */
export function inGraph(trace: Trace, selection: Selection): Selection {
  return selection.kind === "allocation" ? ownerOf(trace, selection.allocation) : selection;
}
