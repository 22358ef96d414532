/** Text next to a group's name on boxes and frames. */

import { runLabel } from "../../model/graph/runs.ts";
import { foldAround } from "../../model/state/folding.ts";
import type { Pictured } from "../../model/state/pictured.ts";
import { backwardLeaves } from "../../model/visible/leaves.ts";
import type { VisibleItem } from "../../model/visible/visible_tree.ts";
import { t } from "../../words/page.ts";

/** "layers.0–11 ×12": the label of the fold that begins with this group. */
export function foldLabel({ trace, hierarchy, state }: Pictured, first: number): string {
  const members = foldAround(hierarchy, state, first);
  const label = runLabel(trace.groupLabel(first), trace.groupLabel(members.at(-1)!));
  return `${label} ×${members.length}`;
}

/** "×12" if the group begins an unfolded run, or was taken out of a fold; else "". */
export function refoldLabel({ hierarchy, state }: Pictured, group: number): string {
  const run = hierarchy.runOf[group]!;
  const isShown = state.unfolded.has(run) ? run === group : state.taken.has(group);
  const members = hierarchy.runMembers(run);
  const isPart = members.some((member) => state.isolation?.isPart[member]);
  return run >= 0 && isShown && !isPart ? `×${members.length}` : "";
}

/** "12 ops"; "3 of 12 ops" if some are hidden, such as an optimizer's, or not in the isolated part. */
export function leafCountText(
  { trace, hierarchy, state }: Pictured,
  isBackward: boolean,
  groups: ArrayLike<number>,
  n: number,
): string {
  const noun = isBackward ? "count.grad_node" : "count.op";
  if (isBackward && state.isolation?.isPart[groups[0]!] !== 1) return t(noun, { n });
  const showParameters = state.showParameters && state.mode !== "ladder";
  const whole = { ...state, showParameters, isolation: undefined };
  const inGroup = isBackward
    ? backwardLeaves(trace, hierarchy, whole).shownIn
    : trace.table("groups").column("op_count");
  const all = Array.from(groups).reduce((sum, group) => sum + inGroup[group]!, 0);
  return n < all ? t(`${noun}_of`, { n, all }) : t(noun, { n });
}

/** "unlike 95 siblings" for a group that is built differently, else "". */
export function oddNote(
  { oddSiblings }: Pictured,
  { kind, key }: Pick<VisibleItem, "kind" | "key">,
): string {
  const family = kind === "group" ? oddSiblings.familyOf(key) : undefined;
  return family ? t("siblings.unlike", { n: family.alike }) : "";
}
