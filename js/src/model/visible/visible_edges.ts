/** Data flow between what is visible: every edge lifted to the boxes that show its ends. */

import { EDGE_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import { edgesWithin } from "../graph/edge_holders.ts";
import type { Hierarchy } from "../graph/hierarchy.ts";
import { EdgeCollector, NO_SHAPE, type VisibleEdges } from "./edge_collector.ts";
import type { VisibleTree } from "./visible_tree.ts";

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
