/** Opening and closing: what a double click, Enter and the outline's signs do. */
import { isFolded } from "../../model/state/folding.ts";
import type { Store } from "../../model/state/store.ts";
import type { ViewState } from "../../model/state/view_state.ts";

/**
 * Open a group, or close it.
 *
 * @param isFold whether the group stands for its folded run: the run is shown member by member
 */
export function toggleGroup(store: Store, group: number, isFold: boolean): void {
  store.update(toggled(store, group, isFold));
}

/** What of the state is another after `toggleGroup`. */
export function toggled(store: Store, group: number, isFold: boolean): Partial<ViewState> {
  return isFold
    ? store.withUnfolded(group, true)
    : store.withOpen(group, !store.state.open.has(group));
}

/** How many items come into view with a group, or a folded run, at most; what is open inside not counted. */
export function itemsInside({ hierarchy }: Store, group: number, isFold: boolean): number {
  return isFold
    ? hierarchy.runMembers(hierarchy.runOf[group]!).length
    : hierarchy.groupsIn(group).length +
        hierarchy.opsIn(group).length +
        hierarchy.gradNodesIn(group).length;
}

/** Open one group: out of its fold, where it is in one. */
export function openOne(store: Store, group: number): void {
  if (isFolded(store.hierarchy, store.state, group)) {
    store.takeOut(group);
  } else {
    store.setOpen(group, true);
  }
}
