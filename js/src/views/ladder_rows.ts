/** The right half of a ladder: which grad nodes stand on the row of each forward box. */
import type { Store } from "../model/store.ts";
import { isLeaf, type VisibleItem } from "../model/visible.ts";
import { backwardEdges, type VisibleEdges } from "../model/visible_edges.ts";
import { type Arrangement, arrange, nestedGraph } from "./arrange.ts";
import { type BoxContent, BoxWriter, extentOf } from "./box_content.ts";
import { cutEdges, ghostOfCut } from "./ladder_cuts.ts";
import type { TextMeasure } from "./measure.ts";

/** Between the boxes of one op's grad nodes, where it has several. */
export const STACK_GAP_PX = 12;
/** Grad nodes of one op, and ops of a PyLayer's backward, that get a box each. */
const MOST_STACKED = 8;

export interface LadderArrangement extends Arrangement {
  /** Boxes on the right of each item, in the order in which gradients pass them: from below. */
  readonly rows: readonly (readonly BoxContent[])[];
  /** How many grad nodes each item stands for or holds. */
  readonly gradNodeCounts: Int32Array;
  readonly gradEdges: VisibleEdges;
  /** Grad nodes that no forward op made, and that have no row: those of a gradient's own graph. */
  readonly withoutRow: number;
}

export function arrangeLadder(store: Store, measure: TextMeasure): LadderArrangement {
  const forward = arrange(store, "forward", measure);
  const { trace } = store;
  const { tree, isMember } = forward;
  const writer = new BoxWriter(store, measure, false, isMember);
  const boxOfGradNode = new Int32Array(trace.gradNodeCount).fill(-1);
  const nodesOfItem = new Map<number, number[]>();
  let withoutRow = 0;
  for (let node = 0; node < trace.gradNodeCount; node++) {
    if (!isMember[node] || isLeaf(trace, node)) {
      continue;
    }
    const op = trace.at("grad_nodes", "op", node);
    const item = op >= 0 ? tree.boxOfOp[op]! : -1;
    boxOfGradNode[node] = item;
    if (item < 0) {
      withoutRow++;
      continue;
    }
    const nodes = nodesOfItem.get(item) ?? [];
    nodes.push(node);
    nodesOfItem.set(item, nodes);
  }
  const rows = tree.items.map((item, index) => {
    const row = rowOf(store, writer, item, nodesOfItem.get(index) ?? []);
    const ghost = row.length ? undefined : ghostOfCut(store, writer, item);
    return ghost ? [ghost] : row;
  });
  const contents = forward.contents.map((content, index) =>
    content ? { ...content, height: Math.max(content.height, heightOf(rows[index]!)) } : undefined,
  );
  const graph = nestedGraph(store, tree, forward.edges, contents);
  rows.forEach((row, index) => {
    for (const box of row) {
      graph.width[index] = Math.max(graph.width[index]!, 2 * extentOf(box));
    }
  });
  const cuts = cutEdges(trace, tree, rows);
  const gradEdges = backwardEdges(trace, { ...tree, boxOfGradNode }, false, cuts);
  const gradNodeCounts = new Int32Array(tree.items.length);
  for (let index = tree.items.length - 1; index >= 0; index--) {
    gradNodeCounts[index]! += nodesOfItem.get(index)?.length ?? 0;
    const { parent } = tree.items[index]!;
    if (parent >= 0) {
      gradNodeCounts[parent]! += gradNodeCounts[index]!;
    }
  }
  return { ...forward, contents, graph, rows, gradNodeCounts, gradEdges, withoutRow };
}

function rowOf(
  store: Store,
  writer: BoxWriter,
  item: VisibleItem,
  nodes: readonly number[],
): BoxContent[] {
  if (item.isOpen || !nodes.length) {
    return [];
  }
  if (item.kind !== "op") {
    return [{ ...writer.group(item, true, nodes.length), id: `${item.id}:backward` }];
  }
  const ordered = inOrderOfFlow(store, nodes);
  const row = ordered
    .slice(0, MOST_STACKED)
    .map((node) => writer.gradNode(node, item.through, `grad_node:${node}`));
  return [...row, ...backwardOps(store, writer, item.key).slice(0, MOST_STACKED)];
}

/** What a PyLayer's backward ran in Python, where the PyLayer is open. */
function backwardOps(store: Store, writer: BoxWriter, op: number): BoxContent[] {
  const { trace, hierarchy, state } = store;
  if (!trace.at("ops", "is_pylayer", op)) {
    return [];
  }
  const made: BoxContent[] = [];
  hierarchy.pylayerOfBackwardOp.forEach((pylayer, inner) => {
    if (pylayer === hierarchy.groupOfOp[op] && trace.backwardCallOf(inner) === state.backwardCall) {
      made.push({ ...writer.op(inner, "", `op:${inner}`), chips: [] });
    }
  });
  return made;
}

function heightOf(row: readonly BoxContent[]): number {
  return row.reduce((sum, box) => sum + box.height, 0) + (row.length - 1) * STACK_GAP_PX;
}

/** Grad nodes of one op: who hands a gradient on comes before who receives it. */
function inOrderOfFlow({ trace }: Store, nodes: readonly number[]): number[] {
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
