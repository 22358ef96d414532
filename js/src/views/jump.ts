/** Selects and shows what may lie in a part of the graph that is not on screen. */
import type { Mode, Store } from "../model/store.ts";

/** From the forward picture, a grad node is shown beside its op: in the ladder. */
export function jumpToGradNode(store: Store, gradNode: number): void {
  const { mode, backwardCall } = store.state;
  const call = callWith(store, gradNode, backwardCall);
  if (mode === "forward" || call !== backwardCall) {
    store.update({ mode: mode === "forward" ? "ladder" : mode, backwardCall: call });
  }
  store.select({ kind: "grad_node", gradNode }, { reveal: true });
}

/** From the backward picture, an op is shown beside its grad node: in the ladder. */
export function jumpToOp(store: Store, op: number): void {
  if (store.state.mode === "backward") store.update({ mode: "ladder" });
  store.select({ kind: "op", op }, { reveal: true });
}

/** Coming from the memory, what is selected there is brought into view in the graph. */
export function switchMode(store: Store, mode: Mode): void {
  const isFromMemory = store.state.mode === "memory" && mode !== "memory";
  const { selection } = store.state;
  const shown = store.selectionInGraph;
  if (isFromMemory && shown.kind === "grad_node") {
    const backwardCall = callWith(store, shown.gradNode, store.state.backwardCall);
    store.update({ mode, backwardCall });
  } else {
    store.update({ mode });
  }
  if (isFromMemory && selection.kind !== "none") {
    store.select(selection, { reveal: true });
  }
}

/** The backward call whose graph holds the node: the shown one if it does. */
function callWith(store: Store, gradNode: number, shown: number): number {
  const members = store.trace.table("backward_members");
  const call = members.column("backward_call");
  let first = -1;
  const nodes = members.column("grad_node");
  for (let row = 0; row < nodes.length; row++) {
    if (nodes[row] !== gradNode) continue;
    if (call[row] === shown) return shown;
    if (first < 0) first = call[row]!;
  }
  return first < 0 ? shown : first;
}
