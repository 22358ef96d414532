/** Which nodes can be reached in the graph: ops along tensors, grad nodes along gradients. */
import type { Trace } from "../../trace/trace.ts";

/** The neighbours in a graph of ops or of grad nodes. */
export interface Steps {
  readonly count: number;
  /** The previous nodes, or the next nodes. */
  before(node: number): number[];
  after(node: number): number[];
}

/** Ops, along the tensors that they read and make. */
export function opSteps(trace: Trace): Steps {
  const [source, target] = trace.columns("op_edges", "source", "target");
  return {
    count: trace.opCount,
    before: (op) => ends(source, trace.edgesInto(op)),
    after: (op) => ends(target, trace.edgesFrom(op)),
  };
}

/** Grad nodes, along the gradients that they pass on. */
export function gradSteps(trace: Trace): Steps {
  const [source, target] = trace.columns("grad_edges", "source", "target");
  return {
    count: trace.gradNodeCount,
    before: (node) => ends(source, trace.gradEdgesInto(node)),
    after: (node) => ends(target, trace.gradEdgesFrom(node)),
  };
}

/**
 * 1 for each node that can be reached, including the starts.
 *
 * @param isFar whether to go further than one step
 */
export function reached(
  starts: Iterable<number>,
  { count }: Steps,
  next: (node: number) => number[],
  isFar = true,
): Uint8Array {
  const isReached = new Uint8Array(count);
  const waiting: number[] = [];
  for (const start of starts) {
    if (!isReached[start]) waiting.push(start);
    isReached[start] = 1;
  }
  const last = isFar ? Number.POSITIVE_INFINITY : waiting.length;
  for (let at = 0; at < waiting.length && at < last; at++) {
    for (const node of next(waiting[at]!)) {
      if (!isReached[node]) waiting.push(node);
      isReached[node] = 1;
    }
  }
  return isReached;
}

function ends(column: ArrayLike<number>, edges: Int32Array): number[] {
  return Array.from(edges, (edge) => column[edge]!).filter((node) => node >= 0);
}
