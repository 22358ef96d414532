/** Opening and closing: what a double click, Enter and the outline's signs do. */
import type { Store } from "../model/store.ts";

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

/** Whether a group is shown as part of its run's one box. */
export function isFolded(store: Store, group: number): boolean {
  const run = store.hierarchy.runOf[group]!;
  return run >= 0 && !store.state.unfolded.has(run);
}
