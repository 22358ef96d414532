/** The right column of a ladder: the grad nodes in the row of each forward box. */
import { callsInside } from "../../model/gradients/backward_calls.ts";
import { countInside } from "../../model/graph/hierarchy.ts";
import { foldAround } from "../../model/state/folding.ts";
import type { Pictured } from "../../model/state/pictured.ts";
import { backwardLeaves, forwardLeaves } from "../../model/visible/leaves.ts";
import { ladderEdges, type VisibleEdge } from "../../model/visible/visible_edges.ts";
import type { VisibleItem, VisibleTree } from "../../model/visible/visible_tree.ts";
import { kept } from "../../trace/kept.ts";
import type { Trace } from "../../trace/trace.ts";
import type { TextMeasure } from "../scene/measure.ts";
import { type Arrangement, arrange, nestedGraph } from "./arrange.ts";
import { type BoxContent, BoxWriter, halfWidthOf } from "./box_content.ts";
import { WIDEST_PX } from "./box_lines.ts";
import { cutEdges, ghostOfCut } from "./ladder_cuts.ts";

/** Gap between the boxes of one op's grad nodes. */
export const STACK_GAP_PX = 12;
/** The most boxes for one op's grad nodes, and for the ops of a PyLayer's backward. */
const MOST_STACKED = 8;

export interface LadderArrangement extends Arrangement {
  /** Boxes to the right of each item, in the order in which gradients pass them: lowest first. */
  readonly rows: readonly (readonly BoxContent[])[];
  /** How many grad nodes each item represents or contains. */
  readonly gradNodeCounts: Int32Array;
  readonly gradEdges: readonly VisibleEdge[];
  readonly measure: TextMeasure;
  /** How many grad nodes have no row, because no op of the forward view made them. */
  readonly withoutRow: number;
}

export function arrangeLadder(
  store: Pictured,
  measure: TextMeasure,
  widest_px = WIDEST_PX,
): LadderArrangement {
  const forward = arrange(store, "forward", measure, widest_px);
  const { trace } = store;
  const { tree, isMember } = forward;
  const writer = new BoxWriter(store, measure, false, isMember, widest_px);
  const paired = pairedNodes(store);
  const gradNodeCounts = new Int32Array(tree.items.length);
  const rows: BoxContent[][] = [];
  for (const item of tree.items) {
    const nodes = item.kind === "op" ? nodesOf(trace, item.key, paired.isShown) : [];
    const count = countOfItem(store, item, paired, nodes.length);
    gradNodeCounts[rows.length] = count;
    const row = rowOf(store, writer, item, nodes, count, paired);
    const ghost = row.length ? undefined : ghostOfCut(store, writer, item);
    rows.push(ghost ? [ghost] : row);
  }
  const contents = forward.contents.map((content, index) =>
    content ? { ...content, height: Math.max(content.height, heightOf(rows[index]!)) } : undefined,
  );
  // The layout may be mirrored, so words get the same room on both sides.
  const { right = [], ...graph } = nestedGraph(store, { ...forward, contents }, measure);
  rows.forEach((row, index) => {
    const halves = [graph.width[index]! / 2, right[index]!, ...row.map(halfWidthOf)];
    graph.width[index] = 2 * Math.max(...halves);
  });
  const op = trace.pairedOps;
  const onRows: VisibleTree = {
    ...tree,
    boxOfGradNode: (node) => (paired.isShown[node] ? tree.boxOfOp(op[node]!) : -1),
  };
  const cuts = cutEdges(trace, tree, rows);
  const gradEdges = ladderEdges(trace, onRows, cuts);
  return { ...forward, contents, graph, rows, gradNodeCounts, gradEdges, measure, ...paired };
}

/** The grad nodes of the shown backward call that were made by ops of the forward view. */
interface PairedNodes {
  readonly isShown: Uint8Array;
  /** How many each group contains. */
  readonly shownIn: Int32Array;
  /** How many grad nodes of the call were made by no op of the forward view. */
  readonly withoutRow: number;
}

export function pairedNodes({ trace, hierarchy, state }: Pictured): PairedNodes {
  const { backwardCall, showOptimizer, isolation } = state;
  return kept(isolation ?? hierarchy, `paired ${backwardCall} ${showOptimizer}`, () => {
    const isInView = backwardLeaves(trace, hierarchy, {
      backwardCall,
      showParameters: false,
      isolation,
    }).isShown;
    const isOpShown = forwardLeaves(trace, hierarchy, state).isShown;
    const op = trace.pairedOps;
    const isShown = new Uint8Array(isInView.length);
    let withoutRow = 0;
    for (let node = 0; node < isShown.length; node++) {
      const hasRow = op[node]! >= 0 && isOpShown[op[node]!] === 1;
      isShown[node] = isInView[node] && hasRow ? 1 : 0;
      withoutRow += isInView[node] && !hasRow ? 1 : 0;
    }
    const shownIn = countInside(hierarchy.parents, hierarchy.groupOnRow, isShown);
    return { isShown, shownIn, withoutRow };
  });
}

function nodesOf(trace: Trace, op: number, isShown: Uint8Array): number[] {
  return Array.from(trace.gradNodesOfOp(op)).filter((node) => isShown[node]);
}

function countOfItem(
  { hierarchy, state }: Pictured,
  item: VisibleItem,
  { shownIn }: PairedNodes,
  ofOp: number,
): number {
  switch (item.kind) {
    case "op":
      return ofOp;
    case "group":
      return shownIn[item.key]!;
    case "fold":
      return foldAround(hierarchy, state, item.key).reduce(
        (sum, group) => sum + shownIn[group]!,
        0,
      );
    default:
      return 0;
  }
}

function rowOf(
  store: Pictured,
  writer: BoxWriter,
  item: VisibleItem,
  nodes: readonly number[],
  count: number,
  { shownIn }: PairedNodes,
): BoxContent[] {
  if (item.isOpen || !count) {
    return [];
  }
  if (item.kind !== "op") {
    // One backward call of a loop of training steps has grad nodes of only one iteration.
    const members = item.kind === "fold" ? foldAround(store.hierarchy, store.state, item.key) : [];
    const areEqual = members.every((group) => shownIn[group] === shownIn[members[0]!]);
    return [{ ...writer.group(item, true, count, areEqual), id: `${item.id}:backward` }];
  }
  const boxes = (those: readonly number[]): BoxContent[] =>
    inOrderOfFlow(store, those)
      .slice(0, MOST_STACKED)
      .map((node) => writer.gradNode(node, item.through, `grad_node:${node}`));
  if (!store.trace.at("ops", "is_pylayer", item.key)) {
    return boxes(nodes);
  }
  // The backward of a PyLayer first runs its ops, then the grad nodes that these ops made.
  const isOwn = (node: number): boolean => store.trace.at("grad_nodes", "op", node) === item.key;
  return [
    ...boxes(nodes.filter(isOwn)),
    ...backwardOps(store, writer, item.key).slice(0, MOST_STACKED),
    ...boxes(nodes.filter((node) => !isOwn(node))),
  ];
}

/** The ops that a PyLayer's backward ran in Python, if the PyLayer is open. */
function backwardOps(store: Pictured, writer: BoxWriter, op: number): BoxContent[] {
  const { trace, hierarchy, state } = store;
  const isInside = callsInside(trace, state.backwardCall);
  const made: BoxContent[] = [];
  hierarchy.pylayerOfBackwardOp.forEach((pylayer, inner) => {
    if (pylayer === hierarchy.groupOfOp[op] && isInside[trace.backwardCallOf(inner)]) {
      made.push({ ...writer.op(inner, "", `op:${inner}`), chips: [] });
    }
  });
  return made;
}

function heightOf(row: readonly BoxContent[]): number {
  return row.reduce((sum, box) => sum + box.height, 0) + (row.length - 1) * STACK_GAP_PX;
}

/** Sort the grad nodes of one op: a node comes before the nodes that receive its gradient. */
function inOrderOfFlow({ trace }: Pictured, nodes: readonly number[]): number[] {
  const waiting = new Set(nodes);
  const ordered: number[] = [];
  while (waiting.size) {
    const isFree = (node: number): boolean =>
      !Array.from(trace.gradEdgesInto(node)).some((edge) =>
        waiting.has(trace.at("grad_edges", "source", edge)),
      );
    const next = [...waiting].find(isFree) ?? [...waiting][0]!;
    waiting.delete(next);
    ordered.push(next);
  }
  return ordered;
}
