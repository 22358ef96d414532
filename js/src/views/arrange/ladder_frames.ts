/** The frames of a ladder: across both columns where there is room, else one on each side. */
import type { NestedResult } from "../../layout/index.ts";
import type { Pictured } from "../../model/state/pictured.ts";
import type { TextMeasure } from "../scene/measure.ts";
import type { SceneFrame } from "../scene/scene.ts";
import { titleRoom } from "../scene/title_room.ts";
import { frameContent } from "./arrange.ts";
import type { ColumnFrame } from "./ladder_room.ts";
import type { LadderArrangement } from "./ladder_rows.ts";

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

/** The open groups of one column, where the layout put them. */
export function columnFrames(
  store: Pictured,
  arrangement: LadderArrangement,
  result: NestedResult,
  isWide: Uint8Array,
  side: ColumnFrame["side"],
  shown: (item: number) => boolean,
  measure: TextMeasure,
): ColumnFrame[] {
  const frames: ColumnFrame[] = [];
  arrangement.tree.items.forEach((item, index) => {
    if (item.isOpen && shown(index)) {
      const [halfWidth, halfHeight] = [result.width[index]! / 2, result.height[index]! / 2];
      const words = isWide[index] ? undefined : contentOf(store, arrangement, index, side);
      frames.push({
        left: result.x[index]! - halfWidth,
        right: result.x[index]! + halfWidth,
        top: result.y[index]! - halfHeight,
        bottom: result.y[index]! + halfHeight,
        isWide: isWide[index] === 1,
        side,
        title: words ? titleRoom(words, measure) : 0,
      });
    }
  });
  return frames;
}

/**
 * Frames of both columns, from the outermost in.
 *
 * @param left where an x of the layout is in the left column
 * @param right where it is in the right one
 */
export function ladderFrames(
  store: Pictured,
  arrangement: LadderArrangement,
  result: NestedResult,
  isWide: Uint8Array,
  shown: Uint8Array,
  left: (x: number) => number,
  right: (x: number) => number,
): SceneFrame[] {
  const { tree } = arrangement;
  const frames: SceneFrame[] = [];
  const depth = new Int32Array(tree.items.length);
  tree.items.forEach((item, index) => {
    depth[index] = item.parent >= 0 ? depth[item.parent]! + 1 : 0;
    if (!item.isOpen) {
      return;
    }
    const [from, to] = [
      result.x[index]! - result.width[index]! / 2,
      result.x[index]! + result.width[index]! / 2,
    ];
    const between = (l: number, r: number): Omit<SceneFrame, keyof FrameContent> => ({
      x: (l + r) / 2,
      y: result.y[index]!,
      width: r - l,
      height: result.height[index]!,
      depth: depth[index]!,
    });
    const content = contentOf(store, arrangement, index, "left");
    frames.push({ ...content, ...between(left(from), isWide[index] ? right(to) : left(to)) });
    if (shown[index] && !isWide[index]) {
      const beside = contentOf(store, arrangement, index, "right");
      frames.push({
        ...beside,
        ...between(right(from), right(to)),
        id: `${beside.id}:backward`,
      });
    }
  });
  return frames;
}

type FrameContent = ReturnType<typeof frameContent>;

function contentOf(
  store: Pictured,
  { tree, gradNodeCounts }: LadderArrangement,
  index: number,
  side: ColumnFrame["side"],
): FrameContent {
  const item = tree.items[index]!;
  return side === "left"
    ? frameContent(store, item.key, "forward", item.leafCount)
    : frameContent(store, item.key, "backward", gradNodeCounts[index]!);
}
