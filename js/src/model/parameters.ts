/** Tensors that no op of the trace made: chips on their readers, or boxes where that is asked for. */
import type { Trace } from "./trace.ts";
import type { VisibleItem, VisibleTree } from "./visible.ts";

const FEW_PAIRS = 64;

/** What an op reads and no op of the trace made, in the order of its arguments, each once. */
export function givenTensors(trace: Trace, op: number): number[] {
  const uses = trace.inputsOf(op);
  const edges = trace.edgesInto(op);
  const tensorOfUse = trace.table("uses").column("tensor");
  const tensorOfEdge = trace.table("op_edges").column("tensor");
  // Most ops read two or three tensors: to look through those is quicker than to make sets.
  const isShort = uses.length * edges.length <= FEW_PAIRS;
  const met = isShort ? undefined : new Set(Array.from(edges, (edge) => tensorOfEdge[edge]!));
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

/** The tree with a box for every tensor that visible ops read and none made. */
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
