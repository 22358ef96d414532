/** The frames of a ladder: across both columns where there is room, else one on each side. */
import type { LadderResult, NestedResult } from "../../layout/index.ts";
import type { Pictured } from "../../model/pictured.ts";
import { frameContent } from "./arrange.ts";
import type { LadderArrangement } from "./ladder_rows.ts";
import type { SceneFrame } from "./scene.ts";

/**
 * Which open groups are drawn as one frame across both columns: those beside which nothing else
 * lies, so that the frame covers nothing foreign.
 */
export function spanning(
  { tree }: LadderArrangement,
  result: NestedResult,
  shown: Uint8Array,
): Uint8Array {
  const { items } = tree;
  const spans = new Uint8Array(items.length);
  const siblings = new Map<number, number[]>();
  items.forEach((item, index) => {
    const list = siblings.get(item.parent) ?? [];
    list.push(index);
    siblings.set(item.parent, list);
  });
  const topOf = (item: number): number => result.y[item]! - result.height[item]! / 2;
  const bottomOf = (item: number): number => result.y[item]! + result.height[item]! / 2;
  for (const [parent, list] of siblings) {
    list.sort((a, b) => topOf(a) - topOf(b));
    let reached = Number.NEGATIVE_INFINITY;
    list.forEach((item, at) => {
      const next = list[at + 1];
      const isAlone =
        topOf(item) >= reached && (next === undefined || bottomOf(item) <= topOf(next));
      reached = Math.max(reached, bottomOf(item));
      spans[item] = items[item]!.isOpen && shown[item] && isAlone && parent < item ? 1 : 0;
    });
  }
  // Parents come before children.
  items.forEach((item, index) => {
    if (item.parent >= 0 && !spans[item.parent]) {
      spans[index] = 0;
    }
  });
  return spans;
}

/** Frames of both columns, from the outermost in. */
export function ladderFrames(
  store: Pictured,
  arrangement: LadderArrangement,
  result: NestedResult,
  { shiftX, shown }: Pick<LadderResult, "shiftX" | "shown">,
  isWide: Uint8Array,
): SceneFrame[] {
  const { tree, gradNodeCounts } = arrangement;
  const frames: SceneFrame[] = [];
  const depth = new Int32Array(tree.items.length);
  tree.items.forEach((item, index) => {
    depth[index] = item.parent >= 0 ? depth[item.parent]! + 1 : 0;
    if (!item.isOpen) {
      return;
    }
    const place = {
      x: result.x[index]! + (isWide[index] ? shiftX / 2 : 0),
      y: result.y[index]!,
      width: result.width[index]! + (isWide[index] ? shiftX : 0),
      height: result.height[index]!,
      depth: depth[index]!,
    };
    frames.push({ ...frameContent(store, item.key, "forward", item.leafCount), ...place });
    if (shown[index] && !isWide[index]) {
      const content = frameContent(store, item.key, "backward", gradNodeCounts[index]!);
      frames.push({ ...content, ...place, x: place.x + shiftX, id: `${content.id}:backward` });
    }
  });
  return frames;
}
