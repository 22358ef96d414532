/** Ops with a special look: ops that raised, and ops that modified a tensor in place. */

import { kept } from "../../trace/kept.ts";
import { ROLES } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";

export const OP_STATES = ["normal", "raised", "in_place"] as const;
const [NORMAL, RAISED, IN_PLACE] = [0, 1, 2];
const OUTPUT = ROLES.indexOf("output");

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
    const uses = trace.table("uses");
    const [opOf, role, tensorOf] = [uses.column("op"), uses.column("role"), uses.column("tensor")];
    for (let use = 0; use < uses.length; use++) {
      const [op, tensor] = [opOf[use]!, tensorOf[use]!];
      if (role[use] !== OUTPUT || op < 0 || tensor < 0 || state[op] === RAISED) {
        continue;
      }
      const before = previous[tensor]!;
      if (before >= 0 && version[tensor]! > version[before]!) {
        state[op] = IN_PLACE!;
      }
    }
    return state;
  });
}
