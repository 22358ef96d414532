/** The open groups that contain most of a picture. */
import type { VisibleTree } from "../../model/visible/visible_tree.ts";
import { extentOf } from "./extent.ts";
import type { Reach, SceneFrame } from "./scene.ts";

/**
 * The open group with more than half of all items, then the group inside it with more than half,
 * and so on.
 */
export function mainGroups({ items }: VisibleTree): number[] {
  const groups: number[] = [];
  let around = -1;
  for (;;) {
    const inside = items.filter(({ parent }) => parent === around);
    const all = inside.reduce((sum, { leafCount }) => sum + leafCount, 0);
    const main = inside.find(({ isOpen, leafCount }) => isOpen && 2 * leafCount > all);
    if (!main) {
      return groups;
    }
    groups.push(main.key);
    around = items.indexOf(main);
  }
}

/** The horizontal extent of a group; in a ladder across both columns. */
export function reachOf(group: number, frames: readonly SceneFrame[]): Reach | undefined {
  const own = frames.filter((frame) => frame.group === group).map(extentOf);
  const [left, right] = [own.map((at) => at.left), own.map((at) => at.right)];
  return own.length ? { left: Math.min(...left), right: Math.max(...right) } : undefined;
}

/** The horizontal extents of the main groups, outermost first. */
export function mainReaches(tree: VisibleTree, frames: readonly SceneFrame[]): Reach[] {
  return mainGroups(tree)
    .map((group) => reachOf(group, frames))
    .filter((reach) => reach !== undefined);
}
