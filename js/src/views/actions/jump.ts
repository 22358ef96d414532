/** Selects an op or grad node and brings it into view, if needed in another kind of graph. */
import { callsInside, outermostCall } from "../../model/gradients/backward_calls.ts";
import { comparisonOf } from "../../model/graph/comparison.ts";
import type { Finding } from "../../model/graph/findings.ts";
import type { Store } from "../../model/state/store.ts";
import { isGraph, type Mode } from "../../model/state/view_state.ts";
import { hasMemory, type Trace } from "../../trace/trace.ts";

/** Select and show a grad node. The forward view shows no grad nodes, so it becomes a ladder. */
export function jumpToGradNode(store: Store, gradNode: number): void {
  const { mode, backwardCall } = store.state;
  const call = callWith(store, (node) => node === gradNode);
  if (mode === "forward" || call !== backwardCall) {
    store.update({ mode: mode === "forward" ? "ladder" : mode, backwardCall: call });
  }
  store.select({ kind: "grad_node", gradNode }, { reveal: true });
}

/** Select and show an op. The backward view changes to the ladder. */
export function jumpToOp(store: Store, op: number): void {
  if (store.state.mode === "backward") store.update({ mode: "ladder" });
  store.select({ kind: "op", op }, { reveal: true });
}

/** Show a finding's sentence above the graph, and its op or grad node if it has one. */
export function showFinding(store: Store, finding: Finding): void {
  const { findingsShown, mode } = store.state;
  store.update({
    finding: finding.key,
    findingsShown: findingsShown === "count" ? "one" : findingsShown,
    ...(isGraph(mode) ? {} : { mode: "forward" }),
  });
  if (finding.gradNode >= 0) {
    jumpToGradNode(store, finding.gradNode);
  } else if (finding.op >= 0) {
    jumpToOp(store, finding.op);
  }
}

/**
 * Show the next or previous finding, cyclically. If the current finding is not shown, "next" shows
 * it first.
 */
export function showNextFinding(store: Store, by: 1 | -1): boolean {
  const { all } = store.findings;
  const current = store.finding;
  if (!current) {
    return false;
  }
  const selection = store.selectionInGraph;
  const isShown =
    (selection.kind === "op" && selection.op === current.op) ||
    (selection.kind === "grad_node" && selection.gradNode === current.gradNode);
  const isFirst = !isShown && (current.op >= 0 || current.gradNode >= 0) && by > 0;
  const to = isFirst ? current.key : (current.key + by + all.length) % all.length;
  showFinding(store, all[to]!);
  return true;
}

/** Show the next or previous op that differs between the compared traces, cyclically. */
export function showNextDifference(store: Store, by: 1 | -1): boolean {
  const { hierarchy, state, selectionInGraph: selection } = store;
  const ops = (comparisonOf(store.trace)?.differing ?? []).filter(
    (op) => state.showOptimizer || !hierarchy.isAside[op],
  );
  if (!ops.length) return false;
  const from = selection.kind === "op" ? selection.op : by > 0 ? -1 : Number.POSITIVE_INFINITY;
  const next = by > 0 ? ops.find((op) => op > from) : ops.findLast((op) => op < from);
  jumpToOp(store, next ?? ops.at(by > 0 ? 0 : -1)!);
  return true;
}

/** Whether a trace has anything to show in a mode. */
export function isOffered(trace: Trace, mode: Mode): boolean {
  return mode === "memory" ? hasMemory(trace) : isGraph(mode) || trace.opCount > 0;
}

/**
 * Change the view. The views with gradients show the backward call that the selection belongs to.
 * A selection from a view without a graph is brought into view in the graph.
 */
export function switchMode(store: Store, mode: Mode): void {
  const isToGraph = !isGraph(store.state.mode) && isGraph(mode);
  const { selection } = store.state;
  const isBackward = mode === "backward" || mode === "ladder";
  store.update(isBackward ? { mode, backwardCall: callOfSelection(store) } : { mode });
  if (isToGraph && selection.kind !== "none") {
    store.select(selection, { reveal: true });
  }
}

/**
 * The backward call that ran grad nodes of the selection. If several did, the shown call is
 * preferred.
 */
function callOfSelection(store: Store): number {
  const { state, trace } = store;
  const calls = trace.table("backward_calls").length;
  if (calls < 2 || state.selection.kind === "none") {
    return state.backwardCall;
  }
  const lit = store.litGradNodes();
  return callWith(store, (node) => lit[node] === 1);
}

/**
 * A backward call whose graph has a matching grad node. The shown call is preferred; it is also the
 * result if no call has such a node.
 */
function callWith({ trace, state }: Store, isMeant: (gradNode: number) => boolean): number {
  const [calls, nodes] = trace.columns("backward_members", "backward_call", "grad_node");
  const isInside = callsInside(trace, state.backwardCall);
  let first = -1;
  for (let row = 0; row < nodes.length; row++) {
    if (!isMeant(nodes[row]!)) continue;
    if (isInside[calls[row]!]) return state.backwardCall;
    if (first < 0) first = calls[row]!;
  }
  return first < 0 ? state.backwardCall : outermostCall(trace, first);
}
