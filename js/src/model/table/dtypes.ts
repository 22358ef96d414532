/** The dtypes of a row: of the outputs of ops, or of the gradients of grad nodes. */

import { kept } from "../../trace/kept.ts";
import { ROLES } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import { eachUse } from "../../trace/uses.ts";
import { spanOfOps } from "../time/spans.ts";
import { foldPlaces, type Mask } from "./sums.ts";
import type { TableRows } from "./table_rows.ts";

const OUTPUT = ROLES.indexOf("output");
/** The largest number of dtypes: each is a bit of a number. Paddle has fewer dtypes than this. */
const MOST_DTYPES = 30;

interface Dtypes {
  readonly names: readonly string[];
  /** For each op or grad node: bit `n` is set if a tensor of it has the dtype `names[n]`. */
  readonly ofOp: Int32Array;
  /** The dtypes of the gradients that a node passes on, and of the gradients that it gets. */
  readonly passed: Int32Array;
  readonly received: Int32Array;
}

function dtypesOf(trace: Trace): Dtypes {
  return kept(trace, "dtypes", () => {
    const bits = new Map<number, number>();
    const bitOf = (code: number): number => {
      if (!trace.text(code)) return 0;
      if (!bits.has(code)) bits.set(code, Math.min(bits.size, MOST_DTYPES));
      return 1 << bits.get(code)!;
    };
    const dtype = trace.table("tensors").column("dtype");
    const ofOp = new Int32Array(trace.opCount);
    eachUse(trace, (op, tensor, role) => {
      if (role === OUTPUT) ofOp[op]! |= bitOf(dtype[tensor]!);
    });
    const edges = trace.table("grad_edges");
    const [passed, received] = (["source", "target"] as const).map((end) => {
      const ofNode = new Int32Array(trace.gradNodeCount);
      edges.column(end).forEach((node, edge) => {
        ofNode[node]! |= bitOf(edges.column("dtype")[edge]!);
      });
      return ofNode;
    });
    const names = [...bits.keys()].map((code) => trace.text(code));
    return { names, ofOp, passed: passed!, received: received! };
  });
}

/** A number for each row that is equal for rows with the same dtypes. */
export function dtypesOfRows(trace: Trace, rows: TableRows, mask: Mask): Int32Array {
  const { ofOp, passed, received } = dtypesOf(trace);
  const { places, kind, count } = rows;
  const binOf = places?.ofItem ?? rows.rowOf;
  const join = (ofKey: Int32Array, itemOf?: Int32Array): Int32Array => {
    const bins = new Int32Array(places?.parent.length ?? count);
    for (let key = 0; key < ofKey.length; key++) {
      const item = itemOf ? itemOf[key]! : key;
      if (item >= 0 && (!mask || mask[item]) && binOf[item]! >= 0)
        bins[binOf[item]!]! |= ofKey[key]!;
    }
    return bins;
  };
  if (kind === "node") {
    // A leaf does not pass gradients on.
    const into = join(received);
    return join(passed).map((set, row) => set || into[row]!);
  }
  const bins = join(ofOp, spanOfOps(trace));
  if (!places) return bins;
  return foldPlaces(places, bins, new Int32Array(count), (one, other) => one | other);
}

/** "float32, int64"; "" for a row without a tensor. */
export function dtypeNames(trace: Trace, set: number): string {
  return dtypesOf(trace)
    .names.filter((_, bit) => set & (1 << bit))
    .join(", ");
}
