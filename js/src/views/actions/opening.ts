/** Opens and closes groups, for double clicks, Enter and the outline's signs. */
import { isFolded } from "../../model/state/folding.ts";
import type { Store } from "../../model/state/store.ts";

/**
 * Open a closed group, or close an open group.
 *
 * @param isFold whether the group represents its folded run, which is then unfolded
 */
export function toggleGroup(store: Store, group: number, isFold: boolean): void {
  if (isFold) {
    store.setUnfolded(group, true);
  } else {
    store.setOpen(group, !store.state.open.has(group));
  }
}

/** Open one group. If it is in a fold, take it out of the fold. */
export function openOne(store: Store, group: number): void {
  if (isFolded(store.hierarchy, store.state, group)) {
    store.takeOut(group);
  } else {
    store.setOpen(group, true);
  }
}
