/**
 * Data flow by the group that holds it: an edge is seen while the innermost group around both its
 * ends is open. So what a picture draws is found in what is open, whatever the rest holds.
 */
import { RowsByKey } from "../../trace/csr.ts";
import { kept } from "../../trace/kept.ts";
import type { Trace } from "../../trace/trace.ts";
import type { Hierarchy } from "./hierarchy.ts";

/** Which edges, and between what: ops, grad nodes, or grad nodes on the rows of their ops. */
type Flow = "ops" | "grad_nodes" | "rows";

/**
 * Rows of the edges' table that can be seen while exactly these groups are open.
 *
 * @param open groups, -1 for the top; each once
 * @returns ascending
 */
export function edgesWithin(
  trace: Trace,
  hierarchy: Hierarchy,
  asked: Flow,
  open: readonly number[],
): Int32Array {
  const hasOwnRows = hierarchy.groupOnRow !== hierarchy.groupOfGradNode;
  const flow = asked === "rows" && !hasOwnRows ? "grad_nodes" : asked;
  const held = kept(hierarchy, `holders ${flow}`, () => edgesByHolder(trace, hierarchy, flow));
  let count = 0;
  for (const group of open) {
    count += held.starts[group + 2]! - held.starts[group + 1]!;
  }
  const edges = new Int32Array(count);
  let filled = 0;
  for (const group of open) {
    const own = held.of(group + 1);
    edges.set(own, filled);
    filled += own.length;
  }
  return open.length > 1 ? edges.sort() : edges;
}

/** Edges by the innermost group around both ends, + 1; edges without an end are left out. */
function edgesByHolder(trace: Trace, hierarchy: Hierarchy, flow: Flow): RowsByKey {
  const { parents } = hierarchy;
  const depth = new Int32Array(parents.length);
  for (let group = 0; group < depth.length; group++) {
    depth[group] = parents[group]! >= 0 ? depth[parents[group]!]! + 1 : 1;
  }
  const groupOf = {
    ops: hierarchy.groupOfOp,
    grad_nodes: hierarchy.groupOfGradNode,
    rows: hierarchy.groupOnRow,
  }[flow];
  const edges = trace.table(flow === "ops" ? "op_edges" : "grad_edges");
  const [source, target] = [edges.column("source"), edges.column("target")];
  const holder = new Int32Array(edges.length);
  for (let edge = 0; edge < holder.length; edge++) {
    if (source[edge]! < 0 || target[edge]! < 0) {
      holder[edge] = -1;
      continue;
    }
    let a = groupOf[source[edge]!]!;
    let b = groupOf[target[edge]!]!;
    while (a !== b) {
      const difference = (a < 0 ? 0 : depth[a]!) - (b < 0 ? 0 : depth[b]!);
      if (difference >= 0) {
        a = parents[a]!;
      }
      if (difference <= 0) {
        b = parents[b]!;
      }
    }
    holder[edge] = a + 1;
  }
  return RowsByKey.index(holder, trace.groupCount + 1);
}
