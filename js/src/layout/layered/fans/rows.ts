/** Places a fan's branches in rows. A bus runs along each row; a spine joins the buses to the fan's end. */

import type { PointList } from "../../points.ts";
import { packTiles } from "../components.ts";
import type { Boxes } from "../flow.ts";

/**
 * Branches that begin at one tensor, end at one consumer, or both. Each is a path of boxes without any
 * other edge.
 */
export interface Fan {
  /** Whether the branches read one tensor or feed one consumer; at least one is true. */
  reads: boolean;
  feeds: boolean;
  /** The boxes of each branch, from top to bottom. */
  branches: number[][];
}

/** Offsets in px: x from the anchor of the fan's box, y from the top of this box. */
export interface FanRows {
  /** For each branch: the middle, and the buses of its row. */
  x: number[];
  inBus: number[];
  outBus: number[];
  /** Top of each box, for each branch. */
  top: number[][];
  /** Distance from the anchor to the spine on either side. */
  half: number;
  height: number;
}

/** The spine of incoming edges is left of the rows, the spine of outgoing edges right of them. */
export function layRows(
  { branches, reads, feeds }: Fan,
  boxes: Boxes,
  boxGap: number,
  laneGap: number,
): FanRows {
  const rowGap = 2 * laneGap;
  const most = (branch: readonly number[], extent: Float64Array): number =>
    branch.reduce((sum, v) => Math.max(sum, extent[v]!), 0);
  const tiles = branches.map((branch) => ({
    width: most(branch, boxes.left) + most(branch, boxes.right),
    height: branch.reduce((sum, v) => sum + boxes.height[v]! + rowGap, feeds ? rowGap : 0),
    x: 0,
    y: 0,
    pinned: false,
  }));
  const size = packTiles(tiles, boxGap / 2);
  const bottoms = new Map<number, number>();
  for (const { y, height } of tiles) bottoms.set(y, Math.max(bottoms.get(y) ?? 0, y + height));
  return {
    x: branches.map((branch, i) => tiles[i]!.x + most(branch, boxes.left) - size.width / 2),
    inBus: tiles.map(({ y }) => y + rowGap / 2),
    // The bus is below the labels next to the edges.
    outBus: tiles.map(({ y }) => bottoms.get(y)! - rowGap / 4),
    top: branches.map((branch, i) => {
      let y = tiles[i]!.y;
      return branch.map((v, k) => {
        const top = y + (k > 0 || reads ? rowGap : rowGap / 2);
        y = top + boxes.height[v]!;
        return top;
      });
    }),
    half: size.width / 2 + laneGap,
    height: size.height + (feeds ? rowGap / 2 : 0),
  };
}

/** Continue a path from the fan's upper end (`top`) to a branch. `x` is the fan's anchor. */
export function enterRow(
  points: PointList,
  begin: number,
  rows: FanRows,
  branch: number,
  x: number,
  top: number,
): void {
  const bus = top + rows.inBus[branch]!;
  const at = x + rows.x[branch]!;
  const out = top + rows.inBus[0]! / 2;
  points.extend(begin, x, out);
  points.push(x - rows.half, out);
  points.extend(begin, x - rows.half, bus);
  points.push(at, bus);
  points.extend(begin, at, top + rows.top[branch]![0]!);
}

/** Continue a path from the end of a branch, at `bottom`, to the fan's lower end. */
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
  const at = x + rows.x[branch]!;
  const back = top + (rows.height + rows.outBus.at(-1)!) / 2;
  points.extend(begin, at, bottom);
  points.extend(begin, at, bus);
  points.push(x + rows.half, bus);
  points.extend(begin, x + rows.half, back);
  points.push(x, back);
}
