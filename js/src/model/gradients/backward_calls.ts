/** Backward calls, including nested ones inside recomputation, a PyLayer or a hook. */

import { kept } from "../../trace/kept.ts";
import { BACKWARD_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";

const REMAINING = BACKWARD_KINDS.indexOf("remaining");

/** For each backward call: the backward call that contains it, -1 if there is none. */
export function callsAround(trace: Trace): Int32Array {
  return kept(trace, "calls around", () => {
    const scope = trace.table("backward_calls").column("scope");
    const scopes = trace.table("scopes");
    const [parent, call] = trace.columns("scopes", "parent", "backward_call");
    // In the table, a scope comes after its parent.
    const around = new Int32Array(scopes.length);
    for (let at = 0; at < around.length; at++) {
      around[at] = call[at]! >= 0 ? call[at]! : parent[at]! >= 0 ? around[parent[at]!]! : -1;
    }
    // A nested call begins after the outer call. In a damaged file, other values are ignored.
    return Int32Array.from(scope, (at, call) => (at >= 0 && around[at]! < call ? around[at]! : -1));
  });
}

/** The outermost call that contains a call, or the call itself. */
export function outermostCall(trace: Trace, backwardCall: number): number {
  const around = callsAround(trace);
  let call = backwardCall;
  while (call >= 0 && around[call]! >= 0) call = around[call]!;
  return call;
}

/** 1 for a backward call and for all calls nested in it. */
export function callsInside(trace: Trace, backwardCall: number): Uint8Array {
  return kept(trace, `calls inside ${backwardCall}`, () => {
    const around = callsAround(trace);
    const isInside = new Uint8Array(around.length);
    for (let call = 0; call < around.length; call++) {
      isInside[call] =
        call === backwardCall || (around[call]! >= 0 && isInside[around[call]!]) ? 1 : 0;
    }
    return isInside;
  });
}

/** 1 for every grad node in the graph of a backward call, or of a call nested in it. */
export function membersOf(trace: Trace, backwardCall: number): Uint8Array {
  return kept(trace, `members ${backwardCall}`, () => {
    const isMember = new Uint8Array(trace.gradNodeCount);
    const members = trace.table("backward_members");
    const [call, node] = trace.columns("backward_members", "backward_call", "grad_node");
    const isInside = callsInside(trace, backwardCall);
    for (let row = 0; row < members.length; row++) {
      if (isInside[call[row]!] && node[row]! >= 0) {
        isMember[node[row]!] = 1;
      }
    }
    return isMember;
  });
}

/**
 * The backward call to show first, -1 for none: the outermost call with the largest graph. If
 * several are equal, it is the first one, because the first iteration of a training loop is open. A
 * graph that no call ran comes last.
 */
export function firstCall(trace: Trace): number {
  const around = callsAround(trace);
  const kind = trace.table("backward_calls").column("kind");
  const sizes = new Int32Array(around.length);
  for (const call of trace.table("backward_members").column("backward_call")) {
    if (call >= 0) sizes[call]!++;
  }
  let first = -1;
  const rank = (call: number): number => (kind[call] === REMAINING ? 0 : 1);
  for (let call = 0; call < sizes.length; call++) {
    if (around[call]! >= 0) continue;
    const ahead = first < 0 ? 1 : rank(call) - rank(first) || sizes[call]! - sizes[first]!;
    if (ahead > 0) first = call;
  }
  return first;
}
