/** The states in which all groups are open or closed, and functions that detect them. */
import type { Hierarchy } from "../graph/hierarchy.ts";
import type { ViewState } from "./view_state.ts";

type Opened = Pick<ViewState, "open" | "unfolded" | "taken">;

/** Every group open, every run unfolded. */
export function allOpen(hierarchy: Hierarchy): Opened {
  const open = new Set<number>();
  for (let group = 0; group < hierarchy.isTransparent.length; group++) {
    if (!hierarchy.isTransparent[group]) {
      open.add(group);
    }
  }
  return { open, unfolded: new Set(hierarchy.runFirsts()), taken: new Set() };
}

export function allClosed(): Opened {
  return { open: new Set(), unfolded: new Set(), taken: new Set() };
}

/** Whether every shown group is open and every shown run is unfolded. */
export function isAllOpen(hierarchy: Hierarchy, state: ViewState): boolean {
  const isShown = (group: number): boolean => state.showOptimizer || !hierarchy.isOptimizer[group];
  for (const first of hierarchy.runFirsts()) {
    if (isShown(first) && !state.unfolded.has(first)) {
      return false;
    }
  }
  for (let parent = -1; parent < hierarchy.isTransparent.length; parent++) {
    for (const group of hierarchy.groupsIn(parent)) {
      if (!hierarchy.isTransparent[group] && isShown(group) && !state.open.has(group)) {
        return false;
      }
    }
  }
  return true;
}

export function isAllClosed({ open, unfolded, taken }: Opened): boolean {
  return open.size + unfolded.size + taken.size === 0;
}
