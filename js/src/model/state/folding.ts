/**
 * Decides which members of a run share a box: all members, until the run is unfolded or single
 * members are taken out.
 */
import type { Hierarchy } from "../graph/hierarchy.ts";
import type { ViewState } from "./view_state.ts";

export type FoldState = Pick<ViewState, "unfolded" | "taken" | "isolation">;

/** Whether a group shares its box with other members of a run. */
export function isFolded(hierarchy: Hierarchy, state: FoldState, group: number): boolean {
  const run = hierarchy.runOf[group]!;
  return run >= 0 && !state.unfolded.has(run) && foldAround(hierarchy, state, group).length > 1;
}

/**
 * The members of a run that share a box with a group, in execution order. They are between the
 * members that are taken out. If the group is taken out or is not in a run, it is alone. A member
 * with hidden content never shares a box, because it differs from the others.
 */
export function foldAround(
  hierarchy: Hierarchy,
  { taken, isolation }: Pick<FoldState, "taken" | "isolation">,
  group: number,
): Int32Array {
  const members = hierarchy.runMembers(hierarchy.runOf[group]!);
  if (!taken.size && !isolation) {
    return members.length ? members : Int32Array.of(group);
  }
  const at = members.indexOf(group);
  const isAlone = (member: number): boolean => taken.has(member) || isolation?.isPart[member] === 1;
  if (at < 0 || isAlone(group)) {
    return Int32Array.of(group);
  }
  let start = at;
  while (start > 0 && !isAlone(members[start - 1]!)) {
    start--;
  }
  let end = at + 1;
  while (end < members.length && !isAlone(members[end]!)) {
    end++;
  }
  return members.subarray(start, end);
}
