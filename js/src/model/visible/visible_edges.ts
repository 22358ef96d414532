/** Data flow between what is visible: every edge lifted to the boxes that show its ends. */

import { PairRows } from "../../trace/pair_rows.ts";
import { EDGE_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import { edgesWithin } from "../graph/edge_holders.ts";
import type { Hierarchy } from "../graph/hierarchy.ts";
import type { VisibleTree } from "./visible_tree.ts";

/** Edges as columns; one row a pair of boxes. */
export interface VisibleEdges {
  readonly length: number;
  /** Positions in the tree's items. */
  readonly source: Int32Array;
  readonly target: Int32Array;
  /** The first tensor, or -1. */
  readonly tensor: Int32Array;
  /** String code of the first tensor's shape. */
  readonly shape: Int32Array;
  /** How many different tensors, or gradients, flow. */
  readonly count: Int32Array;
  /** 1 where no gradient can flow along any of them. */
  readonly isDetached: Uint8Array;
  /** Rows of `grad_edges` that each stands for; none for the edges of tensors. */
  readonly gradEdges: readonly (readonly number[])[];
}

/** String code of "". */
const NO_SHAPE = 0;

/** Of lines that stand for no gradient; never added to. */
const NO_EDGES: number[] = [];

class EdgeCollector {
  readonly #rows: PairRows;
  #tensor: Int32Array;
  #shape: Int32Array;
  #count: Int32Array;
  #isDetached: Uint8Array;
  readonly #gradEdges: number[][] = [];

  /** @param expected edges that will be added, about */
  constructor(expected: number) {
    const most = Math.max(8, expected);
    this.#rows = new PairRows(most);
    this.#tensor = new Int32Array(most);
    this.#shape = new Int32Array(most);
    this.#count = new Int32Array(most);
    this.#isDetached = new Uint8Array(most);
  }

  add(
    source: number,
    target: number,
    tensor: number,
    shape: number,
    isDetached: boolean,
    gradEdge = -1,
  ): void {
    if (source < 0 || target < 0 || source === target) {
      return;
    }
    const known = this.#rows.length;
    const row = this.#rows.rowOf(source, target);
    if (row === known) {
      if (row === this.#tensor.length) {
        this.#grow();
      }
      this.#tensor[row] = tensor;
      this.#shape[row] = shape;
      this.#count[row] = 1;
      this.#isDetached[row] = isDetached ? 1 : 0;
      this.#gradEdges.push(gradEdge >= 0 ? [gradEdge] : NO_EDGES);
      return;
    }
    if (gradEdge >= 0) {
      this.#gradEdges[row]!.push(gradEdge);
    }
    if (!isDetached) {
      this.#isDetached[row] = 0;
    }
    // The same tensor read by two ops of one box is one line.
    if (tensor < 0 || tensor !== this.#tensor[row]) {
      this.#count[row]!++;
    }
  }

  #grow(): void {
    const grown = <T extends Int32Array | Uint8Array>(values: T, larger: T): T => {
      larger.set(values);
      return larger;
    };
    const most = 2 * this.#tensor.length;
    this.#tensor = grown(this.#tensor, new Int32Array(most));
    this.#shape = grown(this.#shape, new Int32Array(most));
    this.#count = grown(this.#count, new Int32Array(most));
    this.#isDetached = grown(this.#isDetached, new Uint8Array(most));
  }

  finish(): VisibleEdges {
    const { length } = this.#rows;
    const { source, target } = this.#rows.pairs();
    return {
      length,
      source,
      target,
      tensor: this.#tensor.slice(0, length),
      shape: this.#shape.slice(0, length),
      count: this.#count.slice(0, length),
      isDetached: this.#isDetached.slice(0, length),
      gradEdges: this.#gradEdges,
    };
  }
}

export function forwardEdges(trace: Trace, hierarchy: Hierarchy, tree: VisibleTree): VisibleEdges {
  const edges = trace.table("op_edges");
  const [source, target] = [edges.column("source"), edges.column("target")];
  const [tensor, kind] = [edges.column("tensor"), edges.column("kind")];
  const shape = trace.table("tensors").column("shape");
  const detach = EDGE_KINDS.indexOf("detach");
  const within = edgesWithin(trace, hierarchy, "ops", tree.walked);
  const collector = new EdgeCollector(within.length);
  for (let at = 0; at < within.length; at++) {
    const edge = within[at]!;
    collector.add(
      tree.boxOfOp(source[edge]!),
      tree.boxOfOp(target[edge]!),
      tensor[edge]!,
      tensor[edge]! >= 0 ? shape[tensor[edge]!]! : NO_SHAPE,
      kind[edge] === detach,
    );
  }
  tree.items.forEach((item, index) => {
    if (item.kind === "tensor") {
      for (const use of trace.consumersOf(item.key)) {
        const reader = trace.at("uses", "op", use);
        const box = reader >= 0 ? tree.boxOfOp(reader) : -1;
        // The tensor's own box says its shape.
        collector.add(index, box, item.key, NO_SHAPE, false);
      }
    }
  });
  return collector.finish();
}

/**
 * Gradient flow: from the loss to the leaves.
 *
 * @param withPylayerOps whether the ops in the tree are those of PyLayers' backwards
 */
export function backwardEdges(
  trace: Trace,
  hierarchy: Hierarchy,
  tree: VisibleTree,
  withPylayerOps: boolean,
): VisibleEdges {
  const within = edgesWithin(trace, hierarchy, "grad_nodes", tree.walked);
  const collector = gradientsAlong(trace, within, tree);
  if (withPylayerOps) {
    addPylayerEdges(trace, tree, collector);
  }
  return collector.finish();
}

/**
 * Gradient flow between the rows of a ladder.
 *
 * @param tree in which a grad node's box is the item of its row
 * @param cuts pairs of items between which a gradient would flow, and does not
 */
export function ladderEdges(
  trace: Trace,
  hierarchy: Hierarchy,
  tree: VisibleTree,
  cuts: readonly (readonly [source: number, target: number])[],
): VisibleEdges {
  const within = edgesWithin(trace, hierarchy, "rows", tree.walked);
  const collector = gradientsAlong(trace, within, tree);
  for (const [from, to] of cuts) {
    collector.add(from, to, -1, NO_SHAPE, true);
  }
  return collector.finish();
}

function gradientsAlong(trace: Trace, within: Int32Array, tree: VisibleTree): EdgeCollector {
  const edges = trace.table("grad_edges");
  const [source, target] = [edges.column("source"), edges.column("target")];
  const shape = edges.column("shape");
  const collector = new EdgeCollector(within.length);
  for (let at = 0; at < within.length; at++) {
    const edge = within[at]!;
    const from = tree.boxOfGradNode(source[edge]!);
    const to = tree.boxOfGradNode(target[edge]!);
    collector.add(from, to, -1, shape[edge]!, false, edge);
  }
  return collector;
}

/** Between the ops of a PyLayer's backward; those that read no other begin at its grad node. */
function addPylayerEdges(trace: Trace, tree: VisibleTree, collector: EdgeCollector): void {
  const shape = trace.table("tensors").column("shape");
  tree.items.forEach((item, index) => {
    if (item.kind !== "op") {
      return;
    }
    let isFirst = true;
    for (const edge of trace.edgesInto(item.key)) {
      const source = tree.boxOfOp(trace.at("op_edges", "source", edge));
      const tensor = trace.at("op_edges", "tensor", edge);
      isFirst &&= source < 0;
      collector.add(source, index, tensor, tensor >= 0 ? shape[tensor]! : NO_SHAPE, false);
    }
    const beside = isFirst
      ? tree.items.findIndex((other) => other.kind === "grad_node" && other.parent === item.parent)
      : -1;
    collector.add(beside, index, -1, NO_SHAPE, false);
  });
}
