/** Mirrors the left column of a ladder if this brings ops nearer to their grad nodes. */
import type { NestedResult } from "../../layout/index.ts";
import type { VisibleItem } from "../../model/visible/visible_tree.ts";
import type { Trace } from "../../trace/trace.ts";
import type { LadderArrangement } from "./ladder_rows.ts";

/** Mirror the left column only if the columns come nearer by more than this many px. */
const LEAST_GAIN_PX = 60;

/** The layout, or its mirror image if this brings ops closer to their grad nodes. */
export function pairedToTheRight(
  trace: Trace,
  { rows, contents, tree }: LadderArrangement,
  result: NestedResult,
): NestedResult {
  if (hasTurnsInARow(trace, tree.items, result)) return result;
  let [left, right] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [pairedLeft, pairedRight] = [left, right];
  rows.forEach((row, item) => {
    if (contents[item]) {
      const [from, to] = [
        result.x[item]! - result.width[item]! / 2,
        result.x[item]! + result.width[item]! / 2,
      ];
      [left, right] = [Math.min(left, from), Math.max(right, to)];
      if (row.length) {
        [pairedLeft, pairedRight] = [Math.min(pairedLeft, from), Math.max(pairedRight, to)];
      }
    }
  });
  const gain = right - pairedRight - (pairedLeft - left);
  return Number.isFinite(pairedLeft) && gain > LEAST_GAIN_PX ? mirrored(result) : result;
}

/** Whether iterations of a loop are side by side. They must keep their order from left to right. */
function hasTurnsInARow(
  trace: Trace,
  items: readonly VisibleItem[],
  { x, y, height }: NestedResult,
): boolean {
  const before = new Map<number, number>();
  for (let item = 0; item < items.length; item++) {
    const { kind, key, parent } = items[item]!;
    if ((kind !== "group" && kind !== "fold") || trace.groupKind(key) !== "turn") continue;
    const last = before.get(parent);
    before.set(parent, item);
    if (last === undefined) continue;
    const apartPx = Math.abs(y[item]! - y[last]!);
    if (x[item]! > x[last]! && 2 * apartPx < height[item]! + height[last]!) return true;
  }
  return false;
}

function mirrored(result: NestedResult): NestedResult {
  const turn = (x: number): number => result.totalWidth - x;
  return { ...result, x: result.x.map(turn), pathX: result.pathX.map(turn) };
}
