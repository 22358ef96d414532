/** Opening and closing: what a double click, Enter and the outline's signs do. */
import { isFolded } from "../../model/state/folding.ts";
import type { Store } from "../../model/state/store.ts";

/**
 * Open a group, or close it.
 *
 * @param isFold whether the group stands for its folded run: the run is shown member by member
 */
export function toggleGroup(store: Store, group: number, isFold: boolean): void {
  if (isFold) {
    store.setUnfolded(group, true);
  } else {
    store.setOpen(group, !store.state.open.has(group));
  }
}

/** Open one group: out of its fold, where it is in one. */
export function openOne(store: Store, group: number): void {
  if (isFolded(store.hierarchy, store.state, group)) {
    store.takeOut(group);
  } else {
    store.setOpen(group, true);
  }
}
