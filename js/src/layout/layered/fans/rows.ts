/** Where the branches of a fan stand: in rows, each with a bus, which a spine joins to the fan's end. */

import type { PointList } from "../../points.ts";
import type { Boxes } from "../flow.ts";

/** Rows are this many times as wide as all of them are high. */
const SHAPE = 1.8;
const LEAST_ROW_PX = 600;

/** Branches between the same ends. Each is a path of boxes without any other edge. */
export interface Fan {
  /** The branches read one tensor; they feed one consumer. One of the two at least. */
  reads: boolean;
  feeds: boolean;
  /** The boxes of each branch, downwards. */
  branches: number[][];
}

/** Offsets in px: x from the anchor of the box that stands for the fan, y from its top. */
export interface FanRows {
  /** Of each branch: its middle, and the buses of its row. */
  x: Float64Array;
  inBus: Float64Array;
  outBus: Float64Array;
  /** Top of each box, branch after branch. */
  top: Float64Array[];
  /** x of the spines that lead to the rows and away from them. */
  inSpine: number;
  outSpine: number;
  left: number;
  right: number;
  height: number;
}

/**
 * A fan with one end has its spine in the middle of the rows. One with two has them at either side: so the lines
 * to the rows do not cross those that come from them.
 */
export function layRows(fan: Fan, boxes: Boxes, boxGap: number, laneGap: number): FanRows {
  const { branches, reads, feeds } = fan;
  const gap = boxGap / 2;
  const rowGap = 2 * laneGap;
  const count = branches.length;
  const left = new Float64Array(count);
  const right = new Float64Array(count);
  const height = new Float64Array(count).fill(-rowGap);
  let area = 0;
  branches.forEach((branch, i) => {
    for (const v of branch) {
      left[i] = Math.max(left[i]!, boxes.left[v]!);
      right[i] = Math.max(right[i]!, boxes.right[v]!);
      height[i]! += boxes.height[v]! + rowGap;
    }
    area += (left[i]! + right[i]! + gap) * (height[i]! + rowGap);
  });
  const rowWidth = Math.max(LEAST_ROW_PX, Math.sqrt(SHAPE * area));
  const isBetween = reads && feeds;
  const rows: FanRows = {
    x: new Float64Array(count),
    inBus: new Float64Array(count),
    outBus: new Float64Array(count),
    top: [],
    inSpine: 0,
    outSpine: 0,
    left: 0,
    right: 0,
    height: 0,
  };

  let y = isBetween ? rowGap / 2 : 0;
  for (let first = 0; first < count; ) {
    let end = first;
    let width = 0;
    let high = 0;
    while (end < count) {
      const across = left[end]! + right[end]! + gap;
      if (end > first && width + across - gap > rowWidth) break;
      width += across;
      high = Math.max(high, height[end]!);
      end++;
    }
    const inBus = y + rowGap / 2;
    if (reads) y += rowGap;
    const bottom = y + high;
    // The spine of a fan with one end passes in the middle of the row.
    const middle = isBetween ? -1 : (first + end) >> 1;
    let x = isBetween ? -rowWidth / 2 : 0;
    if (!isBetween) for (let i = first; i < middle; i++) x -= left[i]! + right[i]! + gap;
    if (!isBetween) x += gap - laneGap;
    for (let i = first; i < end; i++) {
      if (i === middle) x = laneGap;
      rows.x[i] = x + left[i]!;
      rows.left = Math.max(rows.left, -x);
      x += left[i]! + right[i]!;
      rows.right = Math.max(rows.right, x);
      x += gap;
      rows.inBus[i] = inBus;
      rows.outBus[i] = bottom + 0.75 * rowGap; // below the words beside the edges
      // Boxes of a row stand on the side of the bus.
      let top = reads ? y : bottom - height[i]!;
      const tops = new Float64Array(branches[i]!.length);
      branches[i]!.forEach((v, k) => {
        tops[k] = top;
        top += boxes.height[v]! + rowGap;
      });
      rows.top[i] = tops;
    }
    y = feeds ? bottom + rowGap : bottom;
    first = end;
  }
  rows.height = isBetween ? y + rowGap / 2 : y;
  if (isBetween) {
    rows.left += laneGap;
    rows.right += laneGap;
    rows.inSpine = -rows.left;
    rows.outSpine = rows.right;
  }
  return rows;
}

/** Lead a path on from the fan's upper end to a branch. `x`, `top`: the fan's anchor and upper end. */
export function enterRow(
  points: PointList,
  begin: number,
  rows: FanRows,
  branch: number,
  x: number,
  top: number,
): void {
  const bus = top + rows.inBus[branch]!;
  const spine = x + rows.inSpine;
  const at = x + rows.x[branch]!;
  if (spine !== x) {
    const out = top + rows.inBus[0]! / 2;
    points.extend(begin, x, out);
    points.push(spine, out);
  }
  points.extend(begin, spine, bus);
  points.push(at, bus);
  points.extend(begin, at, top + rows.top[branch]![0]!);
}

/** Lead a path from the end of a branch, at `bottom`, to the fan's lower end. */
export function leaveRow(
  points: PointList,
  begin: number,
  rows: FanRows,
  branch: number,
  x: number,
  top: number,
  bottom: number,
): void {
  const bus = top + rows.outBus[branch]!;
  const spine = x + rows.outSpine;
  const at = x + rows.x[branch]!;
  points.extend(begin, at, bottom);
  points.extend(begin, at, bus);
  points.push(spine, bus);
  if (spine !== x) {
    const back = top + (rows.height + rows.outBus.at(-1)!) / 2;
    points.extend(begin, spine, back);
    points.push(x, back);
  }
}
