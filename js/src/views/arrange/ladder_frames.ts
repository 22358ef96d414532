/** The frames of a ladder: one across both columns if there is room, else one in each column. */
import type { NestedResult } from "../../layout/index.ts";
import type { Pictured } from "../../model/state/pictured.ts";
import { type Extent, extentOf } from "../scene/extent.ts";
import type { SceneFrame } from "../scene/scene.ts";
import { titleRoom } from "../scene/title_room.ts";
import { frameContent } from "./arrange.ts";
import type { LadderArrangement } from "./ladder_rows.ts";

/**
 * The open groups that are drawn as one frame across both columns. At the heights of such a group
 * there is nothing else, so that the frame covers only the group's content.
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

/** An open group in one column, at its place in the layout. */
export interface ColumnFrame extends Extent {
  readonly side: "left" | "right";
  /** Whether one frame covers both columns. If so, this is one side of the frame. */
  readonly isWide: boolean;
  /** Width that the title's text needs. */
  readonly title: number;
  readonly depth: number;
  readonly content: ReturnType<typeof frameContent>;
}

/** The open groups of both columns, outermost first. */
export function columnFrames(
  store: Pictured,
  { tree, gradNodeCounts, measure }: LadderArrangement,
  result: NestedResult,
  isWide: Uint8Array,
  shown: Uint8Array,
): ColumnFrame[] {
  const frames: ColumnFrame[] = [];
  const depths = new Int32Array(tree.items.length);
  tree.items.forEach((item, index) => {
    const depth = item.parent >= 0 ? depths[item.parent]! + 1 : 0;
    depths[index] = depth;
    if (!item.isOpen) {
      return;
    }
    const [x, y] = [result.x[index]!, result.y[index]!];
    const extent = extentOf({ x, y, width: result.width[index]!, height: result.height[index]! });
    const add = (side: ColumnFrame["side"], content: ColumnFrame["content"]): void => {
      const title = isWide[index] ? 0 : titleRoom(content, measure);
      frames.push({ ...extent, side, isWide: isWide[index] === 1, title, depth, content });
    };
    add("left", frameContent(store, item.key, "forward", item.leafCount));
    if (shown[index]) {
      const content = frameContent(store, item.key, "backward", gradNodeCounts[index]!);
      add("right", { ...content, id: `${content.id}:backward` });
    }
  });
  return frames;
}

/**
 * The frames of all open groups. A group of `spanning` has one frame across both columns.
 *
 * @param toLeft converts an x of the layout to an x in the left column
 * @param toRight converts an x of the layout to an x in the right column
 */
export function ladderFrames(
  frames: readonly ColumnFrame[],
  toLeft: (x: number) => number,
  toRight: (x: number) => number,
): SceneFrame[] {
  return frames
    .filter(({ side, isWide }) => side === "left" || !isWide)
    .map(({ side, isWide, content, depth, ...extent }) => {
      const left = (side === "left" ? toLeft : toRight)(extent.left);
      const right = (side === "left" && !isWide ? toLeft : toRight)(extent.right);
      const [y, height] = [(extent.top + extent.bottom) / 2, extent.bottom - extent.top];
      return { ...content, x: (left + right) / 2, y, width: right - left, height, depth };
    });
}
