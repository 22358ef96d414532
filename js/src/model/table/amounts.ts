/** What each op, backward call or grad node costs: the numbers that the table adds up. */

import { kept } from "../../trace/kept.ts";
import type { Trace } from "../../trace/trace.ts";
import { hasDevice } from "../time/kernel_spans.ts";
import type { Spans } from "../time/spans.ts";

export type AmountName = "self" | "kernel" | "flops" | "output" | "saved";

/** By item. */
export interface Amounts {
  /** Below 0: not known. NaN: there is none. */
  readonly values: ArrayLike<number>;
  /** How many parts of it are not known; by default 1 where the value is not known. */
  readonly unknown?: ArrayLike<number>;
}

const COST_COLUMNS = { flops: "flops", output: "output_bytes", saved: "saved_bytes" } as const;

/** Undefined if the trace does not have it. */
export function amountsOfSpans(trace: Trace, spans: Spans, name: AmountName): Amounts | undefined {
  if (name === "self") return { values: spans.self_ns };
  return kept(trace, `${name} of spans`, () => readAmounts(trace, spans, name));
}

function readAmounts(
  trace: Trace,
  spans: Spans,
  name: Exclude<AmountName, "self">,
): Amounts | undefined {
  const costs = trace.table("op_costs");
  const ofOp =
    name === "kernel"
      ? kernelTimes(trace, "op")
      : costs.length
        ? costs.column(COST_COLUMNS[name])
        : undefined;
  const ofNode = amountsOfNodes(trace, name)?.values;
  if (!ofOp && !ofNode) return undefined;
  const values = new Float64Array(spans.length).fill(Number.NaN);
  const unknown = new Int32Array(spans.length);
  for (let span = 0; span < spans.length; span++) {
    const op = spans.op[span]!;
    if (op < 0) continue;
    values[span] = ofOp?.[op] ?? -1;
    unknown[span] = Number(values[span]! < 0);
  }
  // What a backward call saved or made belongs to its grad nodes' ops.
  if (ofNode && name !== "saved") {
    const spanOf = new Map<number, number>();
    spans.call.forEach((call, span) => {
      if (call < 0) return;
      spanOf.set(call, span);
      values[span] = 0;
    });
    const members = trace.table("backward_members");
    const [call, node] = [members.column("backward_call"), members.column("grad_node")];
    for (let row = 0; row < members.length; row++) {
      if (node[row]! >= trace.recordedGradNodeCount) continue;
      const [span, amount] = [spanOf.get(call[row]!), ofNode[node[row]!] ?? Number.NaN];
      if (span === undefined) continue;
      if (amount >= 0) values[span]! += amount;
      else if (amount < 0) unknown[span]!++;
    }
  }
  return { values, unknown };
}

export function amountsOfNodes(trace: Trace, name: AmountName): Amounts | undefined {
  switch (name) {
    case "kernel": {
      const values = kernelTimes(trace, "grad_node");
      return values && { values };
    }
    case "flops": {
      const table = trace.table("grad_node_costs");
      return table.length ? { values: table.column("flops") } : undefined;
    }
    case "saved": {
      const table = trace.table("op_costs");
      if (!table.length) return undefined;
      const bytes = table.column("saved_bytes");
      const op = trace.table("grad_nodes").column("op");
      return { values: Float64Array.from(op, (key) => (key >= 0 ? bytes[key]! : Number.NaN)) };
    }
    default:
      return undefined;
  }
}

/** On the device where there is one, else in the kernels' calls on the host. */
function kernelTimes(trace: Trace, of: "op" | "grad_node"): Float64Array | undefined {
  const times = trace.table("kernel_times");
  if (!times.length) return undefined;
  const key = times.column(of);
  const [device_ns, host_ns] = [times.column("device_ns"), times.column("host_ns")];
  const spent = hasDevice(trace) ? device_ns : host_ns;
  // An op or a grad node without a row ran no kernel.
  const sums = new Float64Array(of === "op" ? trace.opCount : trace.gradNodeCount).fill(Number.NaN);
  for (let row = 0; row < times.length; row++) {
    const at = key[row]!;
    if (at >= 0 && spent[row]! >= 0) sums[at] = (sums[at] || 0) + spent[row]!;
  }
  return sums;
}
