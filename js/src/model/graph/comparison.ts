/** The result of a comparison of two traces for each op and each grad node. */
import { floats } from "../../trace/columns.ts";
import { kept } from "../../trace/kept.ts";
import { COMPARE_ORIGINS, COMPARE_STATES } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";

/** Kinds of difference, the least important first. A group shows its most important one. */
export const DIFFERENCES = [
  "equal",
  "inherited",
  "different",
  "only_b",
  "only_a",
  "introduced",
] as const;
export type Difference = (typeof DIFFERENCES)[number];

/**
 * `different` means a difference of unknown origin. Each has a sign, because colour alone is not
 * enough.
 */
export const DIFFERENCE_SIGNS: Readonly<Record<Difference, string>> = {
  equal: "=",
  inherited: "↓",
  different: "≠",
  only_b: "+",
  only_a: "−",
  introduced: "✱",
};

export interface Comparison {
  /** The row of each op, -1 for none. */
  readonly rowOf: Int32Array;
  /** For each op a position in `DIFFERENCES`; NaN if the op was not compared. */
  readonly kinds: Float64Array;
  /** The same for each grad node. */
  readonly kindsOfGradNodes: Float64Array;
  /** The ops that differ, in execution order. */
  readonly differing: readonly number[];
  /** By row of `compared`; NaN if unknown. */
  readonly errors: Readonly<Record<"max_abs" | "max_rel" | "cosine", Float32Array>>;
}

/** Undefined if the trace is not a comparison. */
export function comparisonOf(trace: Trace): Comparison | undefined {
  const table = trace.table("compared");
  if (!table.length) return undefined;
  return kept(trace, "comparison", () => {
    const rowOf = new Int32Array(trace.opCount).fill(-1);
    const kinds = new Float64Array(trace.opCount).fill(Number.NaN);
    const [states, origins] = [table.column("state"), table.column("origin")];
    table.column("op").forEach((op, row) => {
      const state = COMPARE_STATES[states[row]!]!;
      if (op < 0) return;
      rowOf[op] = row;
      const origin = COMPARE_ORIGINS[origins[row]!]!;
      const kind = state === "different" && origin ? origin : state;
      if (kind !== "unknown") kinds[op] = DIFFERENCES.indexOf(kind);
    });
    const kindsOfGradNodes = new Float64Array(trace.gradNodeCount).fill(Number.NaN);
    const [nodes, nodeStates] = trace.columns("compared_grad_nodes", "grad_node", "state");
    nodes.forEach((node, row) => {
      const state = COMPARE_STATES[nodeStates[row]!]!;
      if (state !== "unknown") kindsOfGradNodes[node] = DIFFERENCES.indexOf(state);
    });
    const differing = [...kinds.keys()].filter((op) => kinds[op]! > 0);
    const read = (name: "max_abs" | "max_rel" | "cosine") => floats(table.column(name));
    const errors = { max_abs: read("max_abs"), max_rel: read("max_rel"), cosine: read("cosine") };
    return { rowOf, kinds, kindsOfGradNodes, differing, errors };
  });
}
