/** The blocks that a selection highlights. */
import type { Store } from "../model/state/store.ts";

/**
 * For an op, the blocks of its backward are included. For a grad node, only its own blocks are.
 *
 * @returns for each row of `allocations`: 1 if it is highlighted; undefined if nothing is selected
 */
export function litAllocations(store: Store): Uint8Array | undefined {
  const { trace } = store;
  const { selection } = store.state;
  if (selection.kind === "none") {
    return undefined;
  }
  const table = trace.table("allocations");
  const lit = new Uint8Array(table.length);
  if (selection.kind === "allocation") {
    lit[selection.allocation] = 1;
    return lit;
  }
  const [ops, gradNodes] = [store.litOps(), store.litGradNodes()];
  const [opOf, gradNodeOf, tensorOf] = trace.columns("allocations", "op", "grad_node", "tensor");
  const tensor = selection.kind === "tensor" ? selection.tensor : -2;
  for (let row = 0; row < lit.length; row++) {
    const [op, gradNode] = [opOf[row]!, gradNodeOf[row]!];
    if (tensor !== -2) {
      lit[row] = tensorOf[row] === tensor ? 1 : 0;
    } else if (gradNode >= 0) {
      lit[row] = gradNodes[gradNode]!;
    } else if (op >= 0 && selection.kind !== "grad_node") {
      lit[row] = ops[op]!;
    }
  }
  return lit;
}
