/** The ops of a forward picture and the grad nodes of a backward one: which are shown, and where. */
import { PHASES } from "../protocol.ts";
import { callsInside } from "./backward_calls.ts";
import { countInside, type Hierarchy } from "./hierarchy.ts";
import { kept } from "./kept.ts";
import { standInsOf } from "./stand_ins.ts";
import type { Trace } from "./trace.ts";
import type { ViewState } from "./view_state.ts";

/** What the walk over the group tree asks about one kind of leaf. */
export interface Leaves {
  readonly kind: "op" | "grad_node";
  readonly groupOf: Int32Array;
  /** 1 where the leaf is part of the picture. */
  readonly isShown: Uint8Array;
  /** How many leaves of the picture each group holds, at any depth. */
  readonly shownIn: Int32Array;
  /** Leaves of the picture right inside a group, in the order of flow. */
  in(group: number): Int32Array;
  order(leaf: number): number;
  /** -1 where the flow runs against the order in which ops ran. */
  readonly direction: 1 | -1;
}

const OPTIMIZER = PHASES.indexOf("optimizer");
export function forwardLeaves(
  trace: Trace,
  hierarchy: Hierarchy,
  { showOptimizer }: Pick<ViewState, "showOptimizer">,
): Leaves {
  return kept(hierarchy, `op ${showOptimizer}`, () => {
    const isShown = new Uint8Array(trace.opCount);
    const phase = trace.table("ops").column("phase");
    const { pylayerOfBackwardOp, groupOfOp } = hierarchy;
    for (let op = 0; op < isShown.length; op++) {
      isShown[op] =
        pylayerOfBackwardOp[op]! < 0 && (showOptimizer || phase[op] !== OPTIMIZER) ? 1 : 0;
    }
    return {
      kind: "op",
      groupOf: groupOfOp,
      isShown,
      shownIn: countInside(hierarchy.parents, groupOfOp, isShown, standInsOf(trace).ops),
      in: (group) => hierarchy.opsIn(group).filter((op) => isShown[op]),
      order: (op) => op,
      direction: 1,
    };
  });
}

export function backwardLeaves(
  trace: Trace,
  hierarchy: Hierarchy,
  { backwardCall, showParameters }: Pick<ViewState, "backwardCall" | "showParameters">,
): Leaves {
  return kept(hierarchy, `grad_node ${backwardCall} ${showParameters}`, () => {
    const isMember = membersOf(trace, backwardCall);
    const isAccumulation = leafMask(trace);
    const isShown = new Uint8Array(trace.gradNodeCount);
    for (let node = 0; node < isShown.length; node++) {
      isShown[node] = isMember[node] && (showParameters || !isAccumulation[node]) ? 1 : 0;
    }
    const op = trace.pairedOps;
    const order = (node: number): number => (op[node]! >= 0 ? op[node]! : trace.opCount + node);
    return {
      kind: "grad_node",
      groupOf: hierarchy.groupOfGradNode,
      isShown,
      shownIn: countInside(
        hierarchy.parents,
        hierarchy.groupOfGradNode,
        isShown,
        showParameters ? standInsOf(trace).gradNodes : standInsOf(trace).gradNodesOnTheWay,
      ),
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

/** 1 for every grad node of one backward call's graph, and of the calls inside of it. */
export function membersOf(trace: Trace, backwardCall: number): Uint8Array {
  return kept(trace, `members ${backwardCall}`, () => {
    const isMember = new Uint8Array(trace.gradNodeCount);
    const members = trace.table("backward_members");
    const call = members.column("backward_call");
    const node = members.column("grad_node");
    const isInside = callsInside(trace, backwardCall);
    for (let row = 0; row < members.length; row++) {
      if (isInside[call[row]!] && node[row]! >= 0) {
        isMember[node[row]!] = 1;
      }
    }
    return isMember;
  });
}

/** Whether a grad node only accumulates into a parameter or another leaf tensor. */
export function isLeaf(trace: Trace, gradNode: number): boolean {
  return leafMask(trace)[gradNode] === 1;
}

/** 1 for the grad nodes of leaf tensors. */
function leafMask(trace: Trace): Uint8Array {
  return kept(trace, "leaves", () => {
    const nodes = trace.table("grad_nodes");
    const [op, parameter, name] = [
      nodes.column("op"),
      nodes.column("parameter"),
      nodes.column("name"),
    ];
    const isAccumulation = new Map<number, boolean>();
    const mask = new Uint8Array(trace.gradNodeCount);
    for (let node = 0; node < mask.length; node++) {
      if (op[node]! >= 0) {
        continue;
      }
      let isNamed = isAccumulation.get(name[node]!);
      if (isNamed === undefined) {
        isNamed = trace.text(name[node]!).startsWith("GradNodeAccumulation");
        isAccumulation.set(name[node]!, isNamed);
      }
      mask[node] = parameter[node]! >= 0 || isNamed ? 1 : 0;
    }
    return mask;
  });
}
