/**
 * Tensors that no op of the trace made, and parameters that an optimizer's step has changed: chips on their readers, or
 * boxes where that is asked for.
 */

import { kept } from "../../trace/kept.ts";
import { PHASES, ROLES } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import type { VisibleItem, VisibleTree } from "./visible_tree.ts";

const INPUT = ROLES.indexOf("input");
const OPTIMIZER = PHASES.indexOf("optimizer");
const FEW_PAIRS = 64;

/**
 * 1 for each op that may read what no op of the trace made; for all others `givenTensors` is empty. Two tensors are
 * told from two others by their sum and that of their squares, so most ops need not be looked at one by one.
 */
export function mayHaveGivenTensors(trace: Trace): Uint8Array {
  return kept(trace, "given tensors", () => {
    const count = trace.opCount;
    const [reads, arrives] = [new Int32Array(count), new Int32Array(count)];
    const [sum, squares] = [new Float64Array(count), new Float64Array(count)];
    const uses = trace.table("uses");
    const [op, role, tensor] = [uses.column("op"), uses.column("role"), uses.column("tensor")];
    for (let use = 0; use < uses.length; use++) {
      const [at, read] = [op[use]!, tensor[use]!];
      if (at >= 0 && read >= 0 && role[use] === INPUT) {
        reads[at]!++;
        sum[at]! += read;
        squares[at]! += read * read;
      }
    }
    const edges = trace.table("op_edges");
    const [target, carried] = [edges.column("target"), edges.column("tensor")];
    const isOfOptimizer = ofOptimizers(trace);
    for (let edge = 0; edge < edges.length; edge++) {
      const [at, arrived] = [target[edge]!, carried[edge]!];
      if (at >= 0 && !isOfOptimizer(edge)) {
        arrives[at]!++;
        sum[at]! -= arrived;
        squares[at]! -= arrived * arrived;
      }
    }
    const may = new Uint8Array(count);
    for (let at = 0; at < count; at++) {
      const isEqual = reads[at]! <= 2 && arrives[at] === reads[at] && !sum[at] && !squares[at];
      may[at] = reads[at] && !isEqual ? 1 : 0;
    }
    return may;
  });
}

/** What an op reads and none but an optimizer's made, in the order of its arguments, each once. */
export function givenTensors(trace: Trace, op: number): number[] {
  const uses = trace.inputsOf(op);
  const isOfOptimizer = ofOptimizers(trace);
  const edges = trace.edgesInto(op).filter((edge) => !isOfOptimizer(edge));
  const tensorOfUse = trace.table("uses").column("tensor");
  const tensorOfEdge = trace.table("op_edges").column("tensor");
  // Most ops read two or three tensors: to look through those is quicker than to make sets.
  const isShort = uses.length * edges.length <= FEW_PAIRS;
  const met = isShort ? undefined : new Set<number>();
  for (let at = 0; met && at < edges.length; at++) {
    met.add(tensorOfEdge[edges[at]!]!);
  }
  const given: number[] = [];
  for (const use of uses) {
    const tensor = tensorOfUse[use]!;
    const isKnown = met
      ? met.has(tensor)
      : given.includes(tensor) || edges.some((edge) => tensorOfEdge[edge] === tensor);
    if (tensor >= 0 && !isKnown) {
      given.push(tensor);
      met?.add(tensor);
    }
  }
  return given;
}

/** Whether an edge comes from an op of an optimizer's step. */
function ofOptimizers(trace: Trace): (edge: number) => boolean {
  const phase = trace.table("ops").column("phase");
  const source = trace.table("op_edges").column("source");
  return (edge) => phase[source[edge]!] === OPTIMIZER;
}

/** The tree with a box for every tensor that visible ops read and none made. */
export function withParameters(trace: Trace, tree: VisibleTree): VisibleTree {
  const items: VisibleItem[] = [...tree.items];
  const readers = new Map<number, number[]>();
  const mayBeGiven = mayHaveGivenTensors(trace);
  tree.items.forEach((item, index) => {
    if (item.kind === "op" && mayBeGiven[item.key]) {
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
  // Parents come before children, so the later of the two is never around the other.
  while (left !== right) {
    if (left > right) {
      left = items[left]!.parent;
    } else {
      right = items[right]!.parent;
    }
  }
  return left;
}
