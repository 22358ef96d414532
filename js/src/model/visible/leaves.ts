/**
 * The ops of a forward picture or the grad nodes of a backward picture: which are shown, and where.
 */

import { kept } from "../../trace/kept.ts";
import type { Trace } from "../../trace/trace.ts";
import { membersOf } from "../gradients/backward_calls.ts";
import { leafMask } from "../gradients/grad_leaves.ts";
import { countInside, type Hierarchy } from "../graph/hierarchy.ts";
import type { ViewState } from "../state/view_state.ts";

/** The properties of one kind of leaf that the walk over the group tree needs. */
export interface Leaves {
  readonly kind: "op" | "grad_node";
  readonly groupOf: Int32Array;
  /** 1 if the leaf is in the picture. */
  readonly isShown: Uint8Array;
  /** How many leaves of the picture each group contains, at any depth. */
  readonly shownIn: Int32Array;
  /** Leaves of the picture directly inside a group, in the order of flow. */
  in(group: number): Int32Array;
  order(leaf: number): number;
  /** The direction of the flow: -1 if it is opposite to the execution order of the ops. */
  readonly direction: 1 | -1;
}

export function forwardLeaves(
  trace: Trace,
  hierarchy: Hierarchy,
  { showOptimizer, isolation }: Pick<ViewState, "showOptimizer" | "isolation">,
): Leaves {
  return kept(isolation ?? hierarchy, `op ${showOptimizer}`, () => {
    const isShown = new Uint8Array(trace.opCount);
    const { pylayerOfBackwardOp, groupOfOp, isAside } = hierarchy;
    for (let op = 0; op < isShown.length; op++) {
      const isInView = pylayerOfBackwardOp[op]! < 0 && (showOptimizer || !isAside[op]);
      isShown[op] = isInView && (!isolation || isolation.ops[op]) ? 1 : 0;
    }
    return {
      kind: "op",
      groupOf: groupOfOp,
      isShown,
      shownIn: countInside(hierarchy.parents, groupOfOp, isShown),
      in: (group) => hierarchy.opsIn(group).filter((op) => isShown[op]),
      order: (op) => op,
      direction: 1,
    };
  });
}

export function backwardLeaves(
  trace: Trace,
  hierarchy: Hierarchy,
  {
    backwardCall,
    showParameters,
    isolation,
  }: Pick<ViewState, "backwardCall" | "showParameters" | "isolation">,
): Leaves {
  return kept(isolation ?? hierarchy, `grad_node ${backwardCall} ${showParameters}`, () => {
    const isMember = membersOf(trace, backwardCall);
    const isAccumulation = leafMask(trace);
    const isShown = new Uint8Array(trace.gradNodeCount);
    for (let node = 0; node < isShown.length; node++) {
      const isInView = isMember[node] && (showParameters || !isAccumulation[node]);
      isShown[node] = isInView && (!isolation || isolation.gradNodes[node]) ? 1 : 0;
    }
    const op = trace.pairedOps;
    const order = (node: number): number => (op[node]! >= 0 ? op[node]! : trace.opCount + node);
    return {
      kind: "grad_node",
      groupOf: hierarchy.groupOfGradNode,
      isShown,
      shownIn: countInside(hierarchy.parents, hierarchy.groupOfGradNode, isShown),
      in(group) {
        const nodes = hierarchy.gradNodesIn(group).filter((node) => isShown[node]);
        const isAscending = nodes.every((node, at) => !at || order(nodes[at - 1]!) < order(node));
        return isAscending ? nodes.reverse() : nodes.sort((a, b) => order(b) - order(a));
      },
      order,
      direction: -1,
    };
  });
}
