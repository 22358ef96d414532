/** The costs of ops, backward calls and grad nodes, which the table sums up. */

import { kept } from "../../trace/kept.ts";
import { BACKWARD_KINDS, TENSOR_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import { elementsOf } from "../graph/parameter_reads.ts";
import { hasDevice } from "../time/kernel_spans.ts";
import type { Spans } from "../time/spans.ts";

const PARAMETER = TENSOR_KINDS.indexOf("parameter");
const REMAINING = BACKWARD_KINDS.indexOf("remaining");

export type AmountName = "self" | "kernel" | "flops" | "output" | "saved";

/** The costs by item: an op, a backward call or a grad node. */
export interface Amounts {
  /** A value below 0 is unknown. NaN means that there is no value. */
  readonly values: ArrayLike<number>;
  /**
   * How many parts of each value are unknown. By default 1 if the value is unknown, otherwise 0.
   */
  readonly unknown?: ArrayLike<number>;
}

const COST_COLUMNS = { flops: "flops", output: "output_bytes", saved: "saved_bytes" } as const;

/** Undefined if the trace does not have this cost. */
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
  const ofNode = amountsOfRuns(trace, name);
  if (!ofOp && !ofNode) return undefined;
  const values = new Float64Array(spans.length).fill(Number.NaN);
  const unknown = new Int32Array(spans.length);
  for (let span = 0; span < spans.length; span++) {
    const op = spans.op[span]!;
    if (op < 0) continue;
    values[span] = ofOp?.[op] ?? -1;
    unknown[span] = Number(values[span]! < 0);
  }
  if (ofNode) {
    const spanOf = new Map<number, number>();
    spans.call.forEach((call, span) => {
      if (call < 0) return;
      spanOf.set(call, span);
      values[span] = 0;
    });
    const members = trace.table("backward_members");
    const [call, node] = trace.columns("backward_members", "backward_call", "grad_node");
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

/**
 * The costs of one run of each grad node. Saved bytes and output bytes belong to ops, not to nodes.
 */
function amountsOfRuns(trace: Trace, name: AmountName): ArrayLike<number> | undefined {
  if (name === "kernel") {
    const runs = runsOfNodes(trace);
    return kernelTimes(trace, "grad_node")?.map((ns, node) =>
      Math.floor(ns / Math.max(1, runs[node]!)),
    );
  }
  const table = trace.table("grad_node_costs");
  return name === "flops" && table.length ? table.column("flops") : undefined;
}

/** The costs of all runs of each grad node. */
export function amountsOfNodes(
  trace: Trace,
  name: AmountName | "calls" | "parameters" | "parameter_bytes",
): Amounts | undefined {
  switch (name) {
    case "calls":
      return { values: runsOfNodes(trace) };
    case "kernel": {
      const values = kernelTimes(trace, "grad_node");
      return values && { values };
    }
    case "flops": {
      const flops = amountsOfRuns(trace, name);
      if (!flops) return undefined;
      const runs = runsOfNodes(trace);
      const isKnown = (node: number): boolean => flops[node]! >= 0;
      return {
        values: runs.map((count, node) => (isKnown(node) ? flops[node]! * count : -1)),
        unknown: runs.map((count, node) => (isKnown(node) ? 0 : count)),
      };
    }
    case "saved": {
      const table = trace.table("op_costs");
      if (!table.length) return undefined;
      const bytes = table.column("saved_bytes");
      const ops = trace.table("grad_nodes").column("op");
      const nodesOf = new Int32Array(trace.opCount);
      for (const op of ops) if (op >= 0) nodesOf[op]!++;
      // If an op has several grad nodes, it is unknown which of them keeps the saved bytes.
      const isUnclear = (op: number): boolean => nodesOf[op]! > 1 && bytes[op]! > 0;
      return {
        values: Float64Array.from(ops, (op) => (op < 0 || isUnclear(op) ? -1 : bytes[op]!)),
      };
    }
    case "parameters":
      return { values: leavesOf(trace).elements };
    case "parameter_bytes":
      return { values: leavesOf(trace).bytes };
    default:
      return undefined;
  }
}

/** How often each grad node ran. A node of a retained graph may run in several backward calls. */
export function runsOfNodes(trace: Trace): Float64Array {
  return kept(trace, "runs of grad nodes", () => {
    const runs = new Float64Array(trace.gradNodeCount);
    const members = trace.table("backward_members");
    const [call, node] = trace.columns("backward_members", "backward_call", "grad_node");
    const kind = trace.table("backward_calls").column("kind");
    for (let row = 0; row < members.length; row++) {
      if (kind[call[row]!] !== REMAINING) runs[node[row]!]!++;
    }
    return runs;
  });
}

/** The parameter whose gradient each grad node accumulates; NaN for other nodes. */
function leavesOf(trace: Trace): { elements: Float64Array; bytes: Float64Array } {
  const [leaf, kind, previous] = [
    trace.table("grad_nodes").column("parameter"),
    trace.table("tensors").column("kind"),
    trace.table("tensors").column("previous"),
  ];
  const [elements, bytes] = [0, 1].map(() => new Float64Array(leaf.length).fill(Number.NaN));
  const seen = new Set<number>();
  leaf.forEach((tensor, node) => {
    let at = tensor;
    // After an optimizer step, the same parameter has a new tensor row.
    while (at >= 0 && previous[at]! >= 0) at = previous[at]!;
    if (at < 0 || kind[at] !== PARAMETER || seen.has(at)) return;
    seen.add(at);
    elements![node] = elementsOf(trace, at);
    bytes![node] = trace.at("tensors", "bytes", at);
  });
  return { elements: elements!, bytes: bytes! };
}

/** The times of kernels on the device or, if these were not recorded, on the host. */
function kernelTimes(trace: Trace, of: "op" | "grad_node"): Float64Array | undefined {
  const times = trace.table("kernel_times");
  if (!times.length) return undefined;
  const key = times.column(of);
  const [device_ns, host_ns] = trace.columns("kernel_times", "device_ns", "host_ns");
  const spent = hasDevice(trace) ? device_ns : host_ns;
  // An op or grad node without a row has no kernel.
  const sums = new Float64Array(of === "op" ? trace.opCount : trace.gradNodeCount).fill(Number.NaN);
  for (let row = 0; row < times.length; row++) {
    const at = key[row]!;
    if (at >= 0 && spent[row]! >= 0) sums[at] = (sums[at] || 0) + spent[row]!;
  }
  return sums;
}
