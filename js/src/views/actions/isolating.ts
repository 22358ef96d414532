/** Hides all but a part of the graph, and shows the whole graph again. */
import type { Store } from "../../model/state/store.ts";
import { isGraph, type Selection, type Way } from "../../model/state/view_state.ts";

/** Whether the selection is in the graph. A block of memory may have no op in the graph. */
export function canIsolate(store: Store): boolean {
  return isGraph(store.state.mode) && store.selectionInGraph.kind !== "none";
}

/** @returns whether something remains to be shown */
export function isolateSelection(store: Store, way: Exclude<Way, "between">): boolean {
  const { selection } = store.state;
  const isDone = canIsolate(store) && store.isolate(way, selection);
  if (isDone) reveal(store, selection);
  return isDone;
}

/** Let the user choose the second end of a path by the next selection. */
export function beginWay(store: Store): boolean {
  if (!canIsolate(store)) return false;
  store.update({ wayFrom: store.state.selection });
  return true;
}

/** Show the whole graph again, or stop choosing the other end of a path. */
export function leave(store: Store): void {
  const { isolation, selection, wayFrom } = store.state;
  if (wayFrom.kind !== "none" || !isolation) {
    store.update({ wayFrom: { kind: "none" } });
    return;
  }
  store.showAll();
  reveal(store, selection);
}

/** Bring the selection into view again, because the picture has changed. */
function reveal(store: Store, selection: Selection): void {
  for (const listener of store.onReveal) listener(selection);
}
