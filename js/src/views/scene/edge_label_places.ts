/** Places of the labels on edges, near the boxes that the edges leave. */
import type { SceneEdge } from "./scene.ts";

const SHORTEST_LABELLED_PX = 18;
/** Distance from the box to the middle of the words. */
const AWAY_PX = 11;
export const LONGEST_LABEL_PX = 180;

/**
 * The edges that leave one box: the range of their x, and whether an edge turns directly at the
 * box.
 */
export interface Leaving {
  left: number;
  right: number;
  turnsLeft: boolean;
  turnsRight: boolean;
}

/** The place of a label: left end and middle height. */
export interface LabelPlace {
  readonly x: number;
  readonly y: number;
}

/** Whether two boxes are too close for a label between them. */
export function isTooShort({ pathX, pathY }: SceneEdge): boolean {
  const last = pathX.length - 1;
  return Math.abs(pathY[last]! - pathY[0]!) < SHORTEST_LABELLED_PX && pathX[last] === pathX[0];
}

/** The edges' extents, by the box that the edges leave. */
export function edgesLeaving(edges: readonly SceneEdge[]): Map<number, Leaving> {
  const leaving = new Map<number, Leaving>();
  for (const edge of edges) {
    const x = edge.pathX[0]!;
    const turn = turnOf(edge);
    const known = leaving.get(edge.source);
    if (known) {
      known.left = Math.min(known.left, x);
      known.right = Math.max(known.right, x);
      known.turnsLeft ||= turn < 0;
      known.turnsRight ||= turn > 0;
    } else {
      leaving.set(edge.source, { left: x, right: x, turnsLeft: turn < 0, turnsRight: turn > 0 });
    }
  }
  return leaving;
}

/**
 * The side to which an edge turns when it leaves its box. An edge in a lane first goes straight for
 * a short distance.
 */
function turnOf({ pathX, pathY }: SceneEdge): number {
  const isLane = pathX.length > 2 && Math.abs(pathY[1]! - pathY[0]!) < SHORTEST_LABELLED_PX;
  return pathX[1]! - pathX[0]! || (isLane ? pathX[2]! - pathX[0]! : 0);
}

/**
 * The place of a label: next to all edges that leave the box, on a side to which no edge turns. If
 * edges turn to both sides, the label is on the side of its own edge, which then passes behind it.
 *
 * @param width of the label
 * @param away distance from the outermost edge to the label
 */
export function labelPlace(
  edge: SceneEdge,
  width: number,
  { left, right, turnsLeft, turnsRight }: Leaving,
  away: number,
): LabelPlace {
  const [y0, y1] = [edge.pathY[0], edge.pathY[1]];
  const isLeft = turnsLeft && turnsRight ? turnOf(edge) < 0 : turnsRight;
  return {
    x: isLeft ? left - away - width : right + away,
    y: y0! + Math.sign(y1! - y0!) * AWAY_PX,
  };
}
