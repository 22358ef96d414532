/** What each op, or each grad node, costs: the numbers that the table adds up. */

import { kept } from "../../trace/kept.ts";
import { ROLES } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import { standInsOf } from "../graph/stand_ins.ts";
import { opTimes } from "./op_times.ts";

export const AMOUNTS = ["self", "kernel", "flops", "output", "saved"] as const;
export type AmountName = (typeof AMOUNTS)[number];

const OUTPUT = ROLES.indexOf("output");

/** By op or grad node; below 0: not known. Undefined if the trace does not have it. */
export function amountsOf(
  trace: Trace,
  of: "op" | "node",
  name: AmountName,
): ArrayLike<number> | undefined {
  return kept(trace, `${name} of each ${of}`, () =>
    name === "kernel" ? kernelTimes(trace, of) : of === "op" ? ofOps(trace, name) : undefined,
  );
}

function ofOps(trace: Trace, name: AmountName): ArrayLike<number> | undefined {
  switch (name) {
    case "self":
      return opTimes(trace).self_ns;
    case "output":
      return outputBytes(trace);
    default:
      return undefined;
  }
}

/** On the device where there is one, else in the kernels' calls on the host. */
function kernelTimes(trace: Trace, of: "op" | "node"): Float64Array | undefined {
  const times = trace.table("kernel_times");
  if (!times.length) return undefined;
  const key = times.column(of === "op" ? "op" : "grad_node");
  const [device_ns, host_ns] = [times.column("device_ns"), times.column("host_ns")];
  const hasDevice = device_ns.some((ns) => ns >= 0);
  const count = of === "op" ? trace.opCount : trace.gradNodeCount;
  const sums = new Float64Array(count).fill(-1);
  for (let row = 0; row < times.length; row++) {
    const ns = hasDevice ? device_ns[row]! : host_ns[row]!;
    if (key[row]! >= 0 && ns >= 0) sums[key[row]!] = Math.max(0, sums[key[row]!]!) + ns;
  }
  return sums;
}

function outputBytes(trace: Trace): Float64Array {
  const uses = trace.table("uses");
  const [op, tensor, role] = (["op", "tensor", "role"] as const).map((name) => uses.column(name));
  const bytes = trace.table("tensors").column("bytes");
  const sums = new Float64Array(trace.opCount);
  for (let use = 0; use < uses.length; use++) {
    if (role![use] === OUTPUT && op![use]! >= 0 && tensor![use]! >= 0)
      sums[op![use]!]! += bytes[tensor![use]!]!;
  }
  // The tensors of ops that one op stands for were not stored.
  standInsOf(trace).ops?.forEach((weight, at) => {
    if (weight > 1) sums[at] = -1;
  });
  return sums;
}
