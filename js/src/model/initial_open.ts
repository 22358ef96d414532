/** How much of a trace is open at first: as much as can be taken in at a glance. */
import type { Hierarchy } from "./hierarchy.ts";

/** Boxes that a first picture holds at most. */
const MOST_BOXES = 40;
/** A picture of so few boxes tells too little: its next level opens even if that is too much. */
const TOO_FEW_BOXES = 3;

/** Open whole levels, from the top, while the number of visible boxes stays small. */
export function initialOpen(hierarchy: Hierarchy): Set<number> {
  const open = new Set<number>();
  let closed = closedGroupsIn(hierarchy, -1);
  let boxes = boxCount(hierarchy, -1);
  while (closed.length) {
    const next = closed.flatMap((group) => closedGroupsIn(hierarchy, group));
    const nextBoxes =
      boxes - closed.length + closed.reduce((sum, group) => sum + boxCount(hierarchy, group), 0);
    if (nextBoxes > MOST_BOXES && boxes > TOO_FEW_BOXES) {
      break;
    }
    for (const group of closed) {
      open.add(group);
    }
    closed = next;
    boxes = nextBoxes;
  }
  return open;
}

/** Groups in `parent` that are drawn as a closed box of their own. */
function closedGroupsIn(hierarchy: Hierarchy, parent: number): number[] {
  return Array.from(hierarchy.groupsIn(parent)).filter(
    (group) =>
      !hierarchy.isTransparent[group] &&
      !hierarchy.isOptimizer[group] &&
      hierarchy.runOf[group]! < 0,
  );
}

/** Boxes right inside `parent` while everything in it is closed and folded. */
function boxCount(hierarchy: Hierarchy, parent: number): number {
  let count = hierarchy.opsIn(parent).length;
  for (const group of hierarchy.groupsIn(parent)) {
    const run = hierarchy.runOf[group]!;
    if (!hierarchy.isOptimizer[group] && (run < 0 || run === group)) {
      count++;
    }
  }
  return count;
}
