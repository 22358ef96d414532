/** What each op, or each grad node, costs: the numbers that the table adds up. */

import { kept } from "../../trace/kept.ts";
import type { Trace } from "../../trace/trace.ts";
import { opTimes } from "./op_times.ts";

export type AmountName = "self" | "kernel" | "flops" | "output" | "saved";

const COST_COLUMNS = { flops: "flops", output: "output_bytes", saved: "saved_bytes" } as const;

/** By op or grad node; below 0: not known. Undefined if the trace does not have it. */
export function amountsOf(
  trace: Trace,
  of: "op" | "node",
  name: AmountName,
): ArrayLike<number> | undefined {
  switch (name) {
    case "self":
      return of === "op" ? opTimes(trace).self_ns : undefined;
    case "kernel":
      return kept(trace, `kernel times of each ${of}`, () => kernelTimes(trace, of));
    default:
      return costs(trace, of, name);
  }
}

function costs(
  trace: Trace,
  of: "op" | "node",
  name: Exclude<AmountName, "self" | "kernel">,
): ArrayLike<number> | undefined {
  if (of === "op") {
    const table = trace.table("op_costs");
    return table.length ? table.column(COST_COLUMNS[name]) : undefined;
  }
  const table = trace.table("grad_node_costs");
  return name === "flops" && table.length ? table.column("flops") : undefined;
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
