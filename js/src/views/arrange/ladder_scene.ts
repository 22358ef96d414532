/** The scene of a ladder: forward on the left, going down; backward on the right, going up. */
import { GapRemoval, type NestedResult } from "../../layout/index.ts";
import type { Pictured } from "../../model/state/pictured.ts";
import { t } from "../../words/page.ts";
import { mainReaches } from "../scene/main_groups.ts";
import type { Reach, Scene, SceneBox, SceneEdge, SceneLabel } from "../scene/scene.ts";
import { takenByBoxes, takenByEdges } from "../scene/taken.ts";
import { compose, mainPathX } from "./arrange.ts";
import { halfWidthOf } from "./box_content.ts";
import { type Column, rightColumn } from "./ladder_column.ts";
import { type ColumnFrame, columnFrames, ladderFrames, spanning } from "./ladder_frames.ts";
import { pairedToTheRight } from "./ladder_mirror.ts";
import { ladderShift, spansOf, takenByFrames } from "./ladder_room.ts";
import type { LadderArrangement } from "./ladder_rows.ts";
import { SPACING } from "./spacing.ts";

/** Least gap between parts of the left and the right column at the same height. */
const GUTTER_PX = 44;
const HEAD_PX = 30;
/** The gap between a box and the line to the paired box in the other column. */
const RUNG_AWAY_PX = 6;

export function composeLadder(
  store: Pictured,
  arrangement: LadderArrangement,
  laidOut: NestedResult,
): Scene {
  const { measure, withoutRow } = arrangement;
  const result = pairedToTheRight(store.trace, arrangement, laidOut);
  const left = compose(store, arrangement, result);
  const shown = shownItems(arrangement);
  const isWide = spanning(arrangement, result, shown);
  const right = rightColumn(store, arrangement, result, left.boxes.length);

  const frames = columnFrames(store, arrangement, result, isWide, shown);
  const placing = (side: ColumnFrame["side"], { boxes, edges }: Pick<Scene, "boxes" | "edges">) => {
    const own = frames.filter((frame) => frame.side === side);
    const taken = [
      ...takenByBoxes(boxes, measure),
      ...takenByEdges(edges, measure),
      ...takenByFrames(own, SPACING.groupPaddingPx),
    ];
    return { taken, gapRemoval: new GapRemoval(spansOf(taken)) };
  };
  const atLeft = placing("left", left);
  const atRight = placing("right", right);
  const hasRight = right.boxes.length > 0;
  const shift = hasRight ? ladderShift(atLeft, atRight, GUTTER_PX) : 0;

  const toLeft = (x: number): number => atLeft.gapRemoval.at(x);
  const toRight = (x: number): number => atRight.gapRemoval.at(x) + shift;
  const rungs = rungsBetween(arrangement, result, right, toLeft, toRight);
  const head = headX(arrangement, result);
  const drawnFrames = ladderFrames(frames, toLeft, toRight);
  return {
    width: Math.max(atLeft.gapRemoval.width, hasRight ? atRight.gapRemoval.width + shift : 0),
    height: result.totalHeight,
    focusX: hasRight ? (toLeft(head) + toRight(head)) / 2 : toLeft(head),
    mains: [
      ...mainReaches(arrangement.tree, drawnFrames),
      ...pairsReach(arrangement, result, right, toLeft, toRight),
    ],
    boxes: [...moved(left.boxes, toLeft), ...moved(right.boxes, toRight)],
    frames: drawnFrames,
    edges: [...bent(left.edges, toLeft), ...bent(right.edges, toRight)],
    labels: left.boxes.length
      ? columnHeads(toLeft(head), hasRight ? toRight(head) : undefined, result, withoutRow)
      : [],
    rungs,
  };
}

/** 1 for items that the right column repeats: boxes with grad nodes, and groups around them. */
function shownItems({ tree, rows }: LadderArrangement): Uint8Array {
  const shown = Uint8Array.from(rows, (row) => (row.length ? 1 : 0));
  for (let item = shown.length - 1; item >= 0; item--) {
    const { parent } = tree.items[item]!;
    if (shown[item] && parent >= 0) {
      shown[parent] = 1;
    }
  }
  return shown;
}

function moved(boxes: readonly SceneBox[], to: (x: number) => number): SceneBox[] {
  return boxes.map((box) => ({ ...box, x: to(box.x) }));
}

function bent(edges: readonly SceneEdge[], to: (x: number) => number): SceneEdge[] {
  return edges.map((edge) => ({ ...edge, pathX: Array.from(edge.pathX, to) }));
}

/**
 * The lines from forward boxes to their grad nodes. There is one line at each height, so that no
 * line crosses a box.
 */
function rungsBetween(
  { contents }: LadderArrangement,
  result: NestedResult,
  { boxes, bottom }: Column,
  toLeft: (x: number) => number,
  toRight: (x: number) => number,
): Scene["rungs"] {
  const rungs = new Map<number, Scene["rungs"][number]>();
  bottom.forEach((at, item) => {
    const forward = contents[item];
    if (at >= 0 && forward) {
      const box = boxes[at]!;
      const y = result.y[item]!;
      const known = rungs.get(y);
      const fromX = toLeft(result.x[item]!) + forward.width / 2 + RUNG_AWAY_PX;
      const toX = toRight(box.x) - box.width / 2 - RUNG_AWAY_PX;
      rungs.set(y, {
        y,
        fromX: Math.max(fromX, known?.fromX ?? fromX),
        toX: Math.min(toX, known?.toX ?? toX),
      });
    }
  });
  return [...rungs.values()].filter(({ fromX, toX }) => fromX < toX);
}

/** The extent from the leftmost op with grad nodes to the rightmost grad node. */
function pairsReach(
  { contents }: LadderArrangement,
  result: NestedResult,
  { boxes, bottom }: Column,
  toLeft: (x: number) => number,
  toRight: (x: number) => number,
): Reach[] {
  let [left, right] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  bottom.forEach((at, item) => {
    const forward = contents[item];
    if (at >= 0 && forward) {
      const box = boxes[at]!;
      left = Math.min(left, toLeft(result.x[item]!) - halfWidthOf(forward));
      right = Math.max(right, toRight(box.x) + halfWidthOf(box));
    }
  });
  return left < right ? [{ left, right }] : [];
}

/** The x of the columns' heads: the x of an item with grad nodes, on the main path if possible. */
function headX({ rows }: LadderArrangement, result: NestedResult): number {
  const isPaired = (item: number): boolean => rows[item]!.length > 0;
  const first = result.onMainPath.findIndex((isOn, item) => isOn === 1 && isPaired(item));
  const item = first >= 0 ? first : rows.findIndex((_, at) => isPaired(at));
  return item >= 0 ? result.x[item]! : mainPathX(result);
}

/** @param right undefined if no gradient flows; the right column then has no head */
function columnHeads(
  left: number,
  right: number | undefined,
  result: NestedResult,
  withoutRow: number,
): SceneLabel[] {
  const head = (x: number, text: string, tone: SceneLabel["tone"]): SceneLabel => ({
    x,
    // An edge may leave a box upwards: its label is below this.
    y: -HEAD_PX / 2 - 10,
    text,
    align: "middle",
    tone,
  });
  const heads = [head(left, t("ladder.forward"), "forward")];
  if (right !== undefined) {
    heads.push(head(right, t("ladder.backward"), "backward"));
  }
  if (withoutRow) {
    const text = t("ladder.without_row", { n: withoutRow });
    heads.push({ ...head(right ?? left, text, "soft"), y: result.totalHeight + 18 });
  }
  return heads;
}
