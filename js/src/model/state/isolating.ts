/** Finds the part of the graph that remains when the user isolates something. */
import type { Trace } from "../../trace/trace.ts";
import { leafMask } from "../gradients/grad_leaves.ts";
import type { Hierarchy } from "../graph/hierarchy.ts";
import { gradSteps, opSteps, reached, type Steps } from "../graph/reach.ts";
import { litGradNodes, litOps } from "./pairing.ts";
import type { Isolation, Selection, ViewState, Way } from "./view_state.ts";

interface Viewed {
  readonly trace: Trace;
  readonly hierarchy: Hierarchy;
  readonly state: ViewState;
}

/** The ops or grad nodes where the searches begin: against the flow, and with the flow. */
interface Ends {
  readonly up: readonly number[];
  readonly down: readonly number[];
}

/**
 * @param to the second end, for `between`
 * @returns undefined if nothing would remain
 */
export function isolated(
  { trace, hierarchy, state }: Viewed,
  way: Way,
  from: Selection,
  to: Selection,
): Isolation | undefined {
  const isBackward = isAlongGradients(state.mode, from, to);
  const steps = isBackward ? gradSteps(trace) : opSteps(trace);
  const seen = way === "neighbours" ? layerOf(trace, from) : from;
  const [start, end] = [seen, to].map((selection) => endsOf(trace, selection, isBackward));
  const mask = maskOf(steps, way, start!, end!);
  if (!mask.includes(1)) return undefined;
  const ops = isBackward ? pairedOps(trace, mask) : mask;
  const gradNodes = isBackward ? mask : pairedNodes(trace, mask);
  const { open, unfolded, taken } = state.isolation?.before ?? state;
  const isPart = partGroups(hierarchy, ops, gradNodes);
  const before = { open, unfolded, taken };
  return { way, from: seen, to, isBackward, ops, gradNodes, isPart, before };
}

/** Whether a selection is in the remaining part; true if it is not an op or grad node. */
export function isLeft(trace: Trace, { ops, gradNodes }: Isolation, selection: Selection): boolean {
  const isOpLeft = litOps(trace, selection);
  const isNodeLeft = litGradNodes(trace, selection, isOpLeft);
  const isAny = (lit: Uint8Array, left: Uint8Array): boolean =>
    lit.some((isLit, key) => isLit && left[key]);
  const isNone = !isOpLeft.includes(1) && !isNodeLeft.includes(1);
  return isNone || isAny(isOpLeft, ops) || isAny(isNodeLeft, gradNodes);
}

/** The innermost layer, call or region that contains an op or grad node; for a group, the group. */
function layerOf(trace: Trace, selection: Selection): Selection {
  const group =
    selection.kind === "op"
      ? trace.groupOfOp(selection.op)
      : selection.kind === "grad_node"
        ? trace.groupOfGradNode(selection.gradNode)
        : -1;
  return group >= 0 ? { kind: "group", group } : selection;
}

/** Whether the path follows gradients: in backward, and in a ladder if it begins at a grad node. */
function isAlongGradients(mode: ViewState["mode"], from: Selection, to: Selection): boolean {
  const isOfGradients = ({ kind }: Selection): boolean =>
    kind === "grad_node" || kind === "gradient";
  const isOfOps = ({ kind }: Selection): boolean => kind === "op";
  if (mode === "backward") return !isOfOps(from) || isOfGradients(to);
  return isOfGradients(from) && !isOfOps(to);
}

function endsOf(trace: Trace, selection: Selection, isBackward: boolean): Ends {
  if (selection.kind === "gradient" && isBackward) {
    const edges = [selection.edge, ...selection.beside];
    return {
      up: edges.map((edge) => trace.at("grad_edges", "source", edge)),
      down: edges.map((edge) => trace.at("grad_edges", "target", edge)),
    };
  }
  if (selection.kind === "tensor" && !isBackward) {
    const producer = trace.at("tensors", "producer", selection.tensor);
    const readers = Array.from(trace.consumersOf(selection.tensor), (use) =>
      trace.at("uses", "op", use),
    );
    return {
      up: producer >= 0 ? [producer] : [],
      down: [...new Set(readers)].filter((op) => op >= 0),
    };
  }
  const ops = litOps(trace, selection);
  const keys = keysOf(isBackward ? litGradNodes(trace, selection, ops) : ops);
  return { up: keys, down: keys };
}

function maskOf(steps: Steps, way: Way, start: Ends, end: Ends): Uint8Array {
  const above = ({ up }: Ends, isFar = true): Uint8Array => reached(up, steps, steps.before, isFar);
  const below = ({ down }: Ends, isFar = true): Uint8Array =>
    reached(down, steps, steps.after, isFar);
  switch (way) {
    case "ancestors":
      return above(start);
    case "descendants":
      return below(start);
    case "neighbours":
      return union(above(start, false), below(start, false));
    case "between": {
      const there = both(below(start), above(end));
      return there.includes(1) ? there : both(below(end), above(start));
    }
  }
}

function both(one: Uint8Array, other: Uint8Array): Uint8Array {
  return one.map((isOne, key) => isOne & other[key]!);
}

function union(one: Uint8Array, other: Uint8Array): Uint8Array {
  return one.map((isOne, key) => isOne | other[key]!);
}

function keysOf(mask: Uint8Array): number[] {
  const keys: number[] = [];
  mask.forEach((isSet, key) => {
    if (isSet) keys.push(key);
  });
  return keys;
}

function pairedOps(trace: Trace, gradNodes: Uint8Array): Uint8Array {
  const ops = new Uint8Array(trace.opCount);
  const op = trace.pairedOps;
  gradNodes.forEach((isSet, node) => {
    if (isSet && op[node]! >= 0) ops[op[node]!] = 1;
  });
  return ops;
}

/** The grad nodes of the ops, and the leaves that get gradients from them. */
function pairedNodes(trace: Trace, ops: Uint8Array): Uint8Array {
  const op = trace.pairedOps;
  const nodes = new Uint8Array(trace.gradNodeCount);
  for (let node = 0; node < nodes.length; node++) {
    nodes[node] = op[node]! >= 0 && ops[op[node]!] ? 1 : 0;
  }
  const isLeaf = leafMask(trace);
  const edges = trace.table("grad_edges");
  const [source, target] = trace.columns("grad_edges", "source", "target");
  const ofOps = nodes.slice();
  for (let edge = 0; edge < edges.length; edge++) {
    const [from, to] = [source[edge]!, target[edge]!];
    if (from >= 0 && to >= 0 && ofOps[from] && isLeaf[to]) nodes[to] = 1;
  }
  return nodes;
}

/** 1 for each group that contains, at any depth, an op or grad node that does not remain. */
function partGroups(
  { parents, groupOfOp, groupOfGradNode }: Hierarchy,
  ops: Uint8Array,
  gradNodes: Uint8Array,
): Uint8Array {
  const isPart = new Uint8Array(parents.length);
  for (const [isLeft, groupOf] of [
    [ops, groupOfOp],
    [gradNodes, groupOfGradNode],
  ] as const) {
    for (let leaf = 0; leaf < isLeft.length; leaf++) {
      if (isLeft[leaf]) continue;
      for (let at = groupOf[leaf]!; at >= 0 && !isPart[at]; at = parents[at]!) isPart[at] = 1;
    }
  }
  return isPart;
}
