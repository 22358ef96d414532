/** Hides all but a part of the graph, and shows it again. */
import type { Store } from "../../model/state/store.ts";
import { isGraph, type Selection, type Way } from "../../model/state/view_state.ts";

/** Whether the graph can be seen from a selection: a block of memory may have no owner in it. */
export function canIsolate(store: Store): boolean {
  return isGraph(store.state.mode) && store.selectionInGraph.kind !== "none";
}

/** @returns whether something is left to show */
export function isolateSelection(store: Store, way: Exclude<Way, "between">): boolean {
  const { selection } = store.state;
  const isDone = canIsolate(store) && store.isolate(way, selection);
  if (isDone) reveal(store, selection);
  return isDone;
}

/** The next thing that the user selects is the other end of the way. */
export function beginWay(store: Store): boolean {
  if (!canIsolate(store)) return false;
  store.update({ wayFrom: store.state.selection });
  return true;
}

/** Show the whole graph again, or give up choosing the other end of a way. */
export function leave(store: Store): void {
  const { isolation, selection, wayFrom } = store.state;
  if (wayFrom.kind !== "none" || !isolation) {
    store.update({ wayFrom: { kind: "none" } });
    return;
  }
  store.showAll();
  reveal(store, selection);
}

/** Bring the selection into view again: the picture is another one. */
function reveal(store: Store, selection: Selection): void {
  for (const listener of store.onReveal) listener(selection);
}
