/**
 * Tensors that no op of the trace made, and parameters that only an initializer or an optimizer
 * made. They are drawn as chips next to their readers, or as boxes if the user chooses so.
 */

import { kept } from "../../trace/kept.ts";
import type { Trace } from "../../trace/trace.ts";
import { asideOps } from "../graph/op_states.ts";
import type { VisibleItem, VisibleTree } from "./visible_tree.ts";

/**
 * The tensors that an op reads and no op made (see `madeTensors`), in argument order, without
 * repeats.
 */
export function givenTensors(trace: Trace, op: number): number[] {
  const isMade = madeTensors(trace);
  const tensorOfUse = trace.table("uses").column("tensor");
  const given: number[] = [];
  for (const use of trace.inputsOf(op)) {
    const tensor = tensorOfUse[use]!;
    if (tensor >= 0 && !isMade[tensor] && !given.includes(tensor)) {
      given.push(tensor);
    }
  }
  return given;
}

/**
 * 1 for tensors made by an op that is not in `asideOps`. An edge from that op shows where they come
 * from.
 */
function madeTensors(trace: Trace): Uint8Array {
  return kept(trace, "made tensors", () => {
    const isAside = asideOps(trace);
    const edges = trace.table("op_edges");
    const [source, tensor] = trace.columns("op_edges", "source", "tensor");
    const isMade = new Uint8Array(trace.table("tensors").length);
    for (let edge = 0; edge < edges.length; edge++) {
      if (tensor[edge]! >= 0 && !isAside[source[edge]!]) {
        isMade[tensor[edge]!] = 1;
      }
    }
    return isMade;
  });
}

/** The tree with a box for every tensor that a visible op reads and no op made. */
export function withParameters(trace: Trace, tree: VisibleTree): VisibleTree {
  const items: VisibleItem[] = [...tree.items];
  const readers = new Map<number, number[]>();
  tree.items.forEach((item, index) => {
    if (item.kind === "op") {
      for (const tensor of givenTensors(trace, item.key)) {
        const boxes = readers.get(tensor) ?? [];
        boxes.push(index);
        readers.set(tensor, boxes);
      }
    }
  });
  for (const [tensor, boxes] of readers) {
    items.push({
      id: `tensor:${tensor}`,
      kind: "tensor",
      key: tensor,
      parent: boxes
        .map((box) => tree.items[box]!.parent)
        .reduce((a, b) => innermostAround(items, a, b)),
      isOpen: false,
      through: "",
      leafCount: 1,
      order: Math.min(...boxes.slice(0, 1000).map((box) => tree.items[box]!.order)) - 0.5,
    });
  }
  return { ...tree, items };
}

function innermostAround(items: readonly VisibleItem[], a: number, b: number): number {
  let [left, right] = [a, b];
  // Parents come before children, so an item never contains an earlier item.
  while (left !== right) {
    if (left > right) {
      left = items[left]!.parent;
    } else {
      right = items[right]!.parent;
    }
  }
  return left;
}
