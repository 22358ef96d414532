/** The groups of PyLayers. Each PyLayer has an op, and a separate group for its backward. */
import { GROUP_KINDS, PHASES } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";

const PYLAYER = GROUP_KINDS.indexOf("pylayer");
const BACKWARD = PHASES.indexOf("backward");

/**
 * For an op that a PyLayer's backward ran: the group of the PyLayer; -1 for other ops. The backward
 * of a PyLayer is a separate group. The PyLayer's op connects it with the PyLayer's group.
 */
export function pylayersOfBackwardOps(trace: Trace, groupOfOp: Int32Array): Int32Array {
  const ofOp = new Int32Array(groupOfOp.length).fill(-1);
  const kind = trace.table("groups").column("kind");
  if (!kind.includes(PYLAYER)) {
    return ofOp;
  }
  const opOfScope = trace.table("scopes").column("op");
  const [parents, scope] = trace.columns("groups", "parent", "scope");
  const pylayer = new Int32Array(trace.groupCount).fill(-1);
  for (let group = 0; group < trace.groupCount; group++) {
    const op = kind[group] === PYLAYER && scope[group]! >= 0 ? opOfScope[scope[group]!]! : -1;
    if (parents[group]! >= 0 && pylayer[parents[group]!]! >= 0) {
      pylayer[group] = pylayer[parents[group]!]!;
    } else if (op >= 0 && groupOfOp[op] !== group) {
      pylayer[group] = groupOfOp[op]!;
    }
  }
  const phase = trace.table("ops").column("phase");
  for (let op = 0; op < ofOp.length; op++) {
    if (groupOfOp[op]! >= 0 && phase[op] === BACKWARD) {
      ofOp[op] = pylayer[groupOfOp[op]!]!;
    }
  }
  return ofOp;
}
