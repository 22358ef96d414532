/**
 * The data flow between visible boxes. Each edge joins the boxes that show its source and its
 * target.
 */

import { EDGE_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import type { VisibleTree } from "./visible_tree.ts";

/** All tensors or gradients that flow from one box to another. */
export interface VisibleEdge {
  /** Positions in the tree's items. */
  readonly source: number;
  readonly target: number;
  /** The first tensor that flows along the edge; -1 if none is known. */
  readonly tensor: number;
  /** String code of the first tensor's shape. */
  readonly shape: number;
  /** How many different tensors, or gradients, flow along the edge. */
  count: number;
  /** Whether no gradient can flow along any of these tensors. */
  isDetached: boolean;
  /** The rows of `grad_edges` that the edge represents; none for tensors. */
  readonly gradEdges: number[];
}

/** String code of "". */
const NO_SHAPE = 0;
/** The `gradEdges` of all edges that show tensors; never modified. */
const NO_EDGES: number[] = [];
const DETACH = EDGE_KINDS.indexOf("detach");

/** Collects edges: one for each pair of boxes. */
class EdgeCollector {
  readonly edges: VisibleEdge[] = [];
  readonly #ofPair = new Map<number, VisibleEdge>();
  /** The tensors of an edge, without the first one. */
  readonly #others = new Map<VisibleEdge, Set<number>>();

  constructor(readonly tree: VisibleTree) {}

  add(
    source: number,
    target: number,
    { tensor = -1, shape = NO_SHAPE, isDetached = false, gradEdge = -1 },
  ): void {
    if (source < 0 || target < 0 || source === target) {
      return;
    }
    const pair = source * this.tree.items.length + target;
    const known = this.#ofPair.get(pair);
    if (!known) {
      const gradEdges = gradEdge >= 0 ? [gradEdge] : NO_EDGES;
      const edge = { source, target, tensor, shape, count: 1, isDetached, gradEdges };
      this.#ofPair.set(pair, edge);
      this.edges.push(edge);
      return;
    }
    if (gradEdge >= 0) {
      known.gradEdges.push(gradEdge);
    }
    known.isDetached &&= isDetached;
    // A tensor that two ops of one box read is drawn as one line.
    if (tensor < 0) {
      known.count++;
    } else if (tensor !== known.tensor) {
      const others = this.#others.get(known) ?? new Set();
      this.#others.set(known, others.add(tensor));
      known.count = others.size + 1;
    }
  }

  /** Add the gradient flow between the boxes of grad nodes. */
  addGradients(trace: Trace): void {
    const edges = trace.table("grad_edges");
    const [source, target, shape] = trace.columns("grad_edges", "source", "target", "shape");
    for (let edge = 0; edge < edges.length; edge++) {
      const from = this.tree.boxOfGradNode(source[edge]!);
      const to = this.tree.boxOfGradNode(target[edge]!);
      if (from !== to) this.add(from, to, { shape: shape[edge]!, gradEdge: edge });
    }
  }
}

export function forwardEdges(trace: Trace, tree: VisibleTree): VisibleEdge[] {
  const edges = trace.table("op_edges");
  const [source, target, tensor, kind] = trace.columns(
    "op_edges",
    "source",
    "target",
    "tensor",
    "kind",
  );
  const collector = new EdgeCollector(tree);
  for (let edge = 0; edge < edges.length; edge++) {
    const [from, to] = [tree.boxOfOp(source[edge]!), tree.boxOfOp(target[edge]!)];
    if (from !== to) {
      const isDetached = kind[edge] === DETACH;
      collector.add(from, to, { ...shapeOf(trace, tensor[edge]!), isDetached });
    }
  }
  tree.items.forEach((item, index) => {
    if (item.kind === "tensor") {
      for (const use of trace.consumersOf(item.key)) {
        // The box of the tensor shows the shape.
        collector.add(index, tree.boxOfOp(trace.at("uses", "op", use)), { tensor: item.key });
      }
    }
  });
  return collector.edges;
}

/** Gradient flow, from the loss to the leaves. The tree's ops are ops of PyLayers' backwards. */
export function backwardEdges(trace: Trace, tree: VisibleTree): VisibleEdge[] {
  const collector = new EdgeCollector(tree);
  collector.addGradients(trace);
  addPylayerEdges(trace, tree, collector);
  return collector.edges;
}

/**
 * Gradient flow between the rows of a ladder.
 *
 * @param tree its items are the rows; the box of a grad node is the row of the node
 * @param cuts pairs of items between which a cut stops the gradient flow
 */
export function ladderEdges(
  trace: Trace,
  tree: VisibleTree,
  cuts: readonly (readonly [source: number, target: number])[],
): VisibleEdge[] {
  const collector = new EdgeCollector(tree);
  collector.addGradients(trace);
  for (const [from, to] of cuts) {
    collector.add(from, to, { isDetached: true });
  }
  return collector.edges;
}

/** Add edges between a PyLayer's backward ops, and from its grad node to the first of these ops. */
function addPylayerEdges(trace: Trace, tree: VisibleTree, collector: EdgeCollector): void {
  tree.items.forEach((item, index) => {
    if (item.kind !== "op") {
      return;
    }
    let isFirst = true;
    for (const edge of trace.edgesInto(item.key)) {
      const source = tree.boxOfOp(trace.at("op_edges", "source", edge));
      isFirst &&= source < 0;
      collector.add(source, index, shapeOf(trace, trace.at("op_edges", "tensor", edge)));
    }
    const beside = isFirst
      ? tree.items.findIndex((other) => other.kind === "grad_node" && other.parent === item.parent)
      : -1;
    collector.add(beside, index, {});
  });
}

function shapeOf(trace: Trace, tensor: number): { tensor: number; shape: number } {
  return { tensor, shape: tensor >= 0 ? trace.at("tensors", "shape", tensor) : NO_SHAPE };
}
