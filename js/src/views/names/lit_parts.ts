/** Short names for the highlighted parts: a layer's name if all its ops are highlighted. */
import type { Store } from "../../model/state/store.ts";

export type LitPart = { readonly group: number } | { readonly op: number };

/** Keys of the highlighted ops, in execution order. */
export function litOpKeys(store: Store): number[] {
  const ops: number[] = [];
  store.litOps().forEach((isLit, op) => {
    if (isLit) ops.push(op);
  });
  return ops;
}

/** The outermost groups with all ops highlighted, and the other highlighted ops, in order. */
export function litParts(store: Store): LitPart[] {
  const { trace } = store;
  const ops = litOpKeys(store);
  const [parent, size] = trace.columns("groups", "parent", "op_count");
  const litCount = new Int32Array(parent.length);
  for (const op of ops) {
    for (let at = trace.groupOfOp(op); at >= 0; at = parent[at]!) litCount[at]!++;
  }
  const seen = new Set<number>();
  const parts: LitPart[] = [];
  for (const op of ops) {
    const whole = trace
      .groupPath(trace.groupOfOp(op))
      // For a group of one op, the op is the better name.
      .find((group) => litCount[group] === size[group] && size[group]! > 1);
    if (whole === undefined) parts.push({ op });
    else if (!seen.has(whole)) {
      seen.add(whole);
      parts.push({ group: whole });
    }
  }
  return parts;
}
