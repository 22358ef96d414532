/** Values of grad nodes that determine their colours; NaN if unknown. */
import type { Trace } from "../../trace/trace.ts";
import type { Gradients } from "../gradients/gradients.ts";
import { comparisonOf } from "../graph/comparison.ts";
import type { Colouring } from "../state/view_state.ts";

/**
 * Statistics of the gradients that a grad node passes on; for a leaf, of the gradients that it
 * gets.
 *
 * @param backwardCall the call whose gradients count; each call has its own statistics
 */
export function gradNodeValues(
  trace: Trace,
  gradients: Gradients,
  name: Colouring,
  backwardCall: number,
): Float64Array {
  const values = new Float64Array(trace.gradNodeCount).fill(Number.NaN);
  const isAsked = name === "gradient_norm" || name === "nan_share" ? gradients.isRecorded : true;
  if (name === "flops") {
    const costs = trace.table("grad_node_costs");
    if (costs.length !== values.length) return values;
    return Float64Array.from(costs.column("flops"), (flops) => (flops < 0 ? Number.NaN : flops));
  }
  if (name === "difference") return comparisonOf(trace)?.kindsOfGradNodes ?? values;
  if (!isAsked || !(name === "gradient_norm" || name === "nan_share" || name === "dtype")) {
    return values;
  }
  const dtype = trace.table("grad_edges").column("dtype");
  for (let node = 0; node < values.length; node++) {
    const from = trace.gradEdgesFrom(node);
    const edges = Array.from(from.length ? from : trace.gradEdgesInto(node));
    values[node] =
      name === "dtype"
        ? (edges.map((edge) => dtype[edge]!).find((code) => trace.text(code)) ?? Number.NaN)
        : name === "gradient_norm"
          ? (gradients.normOf(edges, backwardCall)?.norm ?? Number.NaN)
          : nanShare(trace, gradients, edges, backwardCall);
  }
  return values;
}

function nanShare(
  trace: Trace,
  gradients: Gradients,
  edges: readonly number[],
  backwardCall: number,
): number {
  let [nans, elements] = [0, 0];
  for (const edge of edges) {
    const row = gradients.ofEdgeIn(edge, backwardCall);
    if (row < 0) continue;
    nans += trace.at("grad_stats", "nans", row);
    elements += trace.at("grad_stats", "elements", row);
  }
  return nans / elements;
}
