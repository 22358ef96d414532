/** Ops that are drawn in a special way, and ops that the forward graph hides at first. */

import { kept } from "../../trace/kept.ts";
import { PHASES, ROLES } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import { eachUse } from "../../trace/uses.ts";

export const OP_STATES = ["normal", "raised", "in_place"] as const;
const [NORMAL, RAISED, IN_PLACE] = [0, 1, 2];
const OUTPUT = ROLES.indexOf("output");
const OPTIMIZER = PHASES.indexOf("optimizer");

/** Position of each op's state in `OP_STATES`. */
export function opStates(trace: Trace): Uint8Array {
  return kept(trace, "op states", () => {
    const ops = trace.table("ops");
    const raised = ops.column("raised");
    const state = new Uint8Array(ops.length);
    for (let op = 0; op < state.length; op++) {
      state[op] = raised[op] ? RAISED! : NORMAL!;
    }
    const tensors = trace.table("tensors");
    const previous = tensors.column("previous");
    if (!previous.some((before) => before >= 0)) {
      return state;
    }
    const version = tensors.column("version");
    eachUse(trace, (op, tensor, role) => {
      if (role !== OUTPUT || state[op] === RAISED) {
        return;
      }
      const before = previous[tensor]!;
      if (before >= 0 && version[tensor]! > version[before]!) {
        state[op] = IN_PLACE!;
      }
    });
    return state;
  });
}

/**
 * 1 for the ops of optimizers and of Paddle's initializers. A model that is created in the traced
 * code runs an initializer op for each parameter. If a trace has no other ops, initializers are not
 * hidden.
 */
export function asideOps(trace: Trace): Uint8Array {
  const isInitial = trace.table("op_groups").column("is_initial");
  const isOptimizer = Uint8Array.from(trace.table("ops").column("phase"), (code) =>
    Number(code === OPTIMIZER),
  );
  const isAside = isOptimizer.map((is, op) => is | isInitial[op]!);
  return isAside.includes(0) ? isAside : isOptimizer;
}
