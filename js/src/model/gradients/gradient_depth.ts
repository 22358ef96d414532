/** The size of gradients by layer, in forward order, to show where they vanish or explode. */

import type { Trace } from "../../trace/trace.ts";
import type { Hierarchy } from "../graph/hierarchy.ts";
import { membersOf } from "./backward_calls.ts";
import { isLeaf } from "./grad_leaves.ts";
import type { Gradients } from "./gradients.ts";

/** The call of a layer, or an op outside of layers. */
export interface DepthPoint {
  /** The group of the call; -1 for an op. */
  readonly group: number;
  /** The first op of the call. */
  readonly op: number;
  readonly label: string;
  /** The norm of the gradients that the layer passes to earlier layers; -1 if not recorded. */
  readonly flowing: number;
  /** The norm of the gradients of the layer's parameters; -1 if there are none. */
  readonly parameters: number;
  /** Whether a gradient has NaN or Inf. */
  readonly isBroken: boolean;
}

/** The points in forward order. */
export function gradientsOverDepth(
  trace: Trace,
  hierarchy: Hierarchy,
  gradients: Gradients,
  backwardCall: number,
): DepthPoint[] {
  const isMember = membersOf(trace, backwardCall);
  const kept = new Map<string, { group: number; op: number; out: number[]; leaves: number[] }>();
  const [source, target] = trace.columns("grad_edges", "source", "target");
  const ownerOf = (node: number): { name: string; group: number; op: number } | undefined => {
    const op = trace.pairedOp(node);
    if (op < 0) {
      return undefined;
    }
    const group = layerAround(trace, hierarchy.groupOfOp[op]!);
    return { name: group >= 0 ? `group ${group}` : `op ${op}`, group, op };
  };
  for (let edge = 0; edge < source.length; edge++) {
    const [from, to] = [source[edge]!, target[edge]!];
    const owner = from >= 0 && isMember[from] ? ownerOf(from) : undefined;
    if (!owner || to < 0) {
      continue;
    }
    const point = kept.get(owner.name) ?? { ...owner, out: [], leaves: [] };
    point.op = Math.min(point.op, owner.op);
    kept.set(owner.name, point);
    if (isLeaf(trace, to)) {
      point.leaves.push(edge);
    } else if (ownerOf(to)?.name !== owner.name) {
      point.out.push(edge);
    }
  }
  return [...kept.values()]
    .sort((a, b) => a.op - b.op)
    .map(({ group, op, out, leaves }): DepthPoint => {
      const flowing = gradients.normOf(out, backwardCall);
      const parameters = gradients.normOf(leaves, backwardCall);
      const isBroken = [flowing, parameters].some((norm) => norm && norm.nans + norm.infs > 0);
      return {
        group,
        op,
        label: group >= 0 ? trace.groupName(group) : `${trace.opLabel(op)} #${op}`,
        flowing: flowing?.norm ?? -1,
        parameters: parameters?.norm ?? -1,
        isBroken,
      };
    })
    .filter((point) => point.flowing >= 0 || point.parameters >= 0);
}

/** The innermost layer call that contains a group, -1 for none. */
function layerAround(trace: Trace, group: number): number {
  for (let at = group; at >= 0; at = trace.at("groups", "parent", at)) {
    if (trace.groupKind(at) === "layer") {
      return at;
    }
  }
  return -1;
}
