/** Where the words beside edges stand: beside where they leave their boxes. */
import type { SceneEdge } from "./scene.ts";

const SHORTEST_LABELLED_PX = 18;
/** From the box to the middle of the words. */
const AWAY_PX = 11;
export const LONGEST_LABEL_PX = 130;

/** The lines that leave one box: from where to where, and whether some turn to a side at once. */
export interface Leaving {
  left: number;
  right: number;
  turnsLeft: boolean;
  turnsRight: boolean;
}

/** Place of words: their left end, the middle of their height, and whether lines pass behind them. */
export interface LabelPlace {
  readonly x: number;
  readonly y: number;
  readonly isOnLine: boolean;
}

/** Between boxes that stand close there is no room for a word. */
export function isTooShort({ pathX, pathY }: SceneEdge): boolean {
  const last = pathX.length - 1;
  return Math.abs(pathY[last]! - pathY[0]!) < SHORTEST_LABELLED_PX && pathX[last] === pathX[0];
}

/** By the box that they leave. */
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

/** To which side an edge turns where it leaves its box; a lane goes straight a little before. */
function turnOf({ pathX, pathY }: SceneEdge): number {
  const isLane = pathX.length > 2 && Math.abs(pathY[1]! - pathY[0]!) < SHORTEST_LABELLED_PX;
  return pathX[1]! - pathX[0]! || (isLane ? pathX[2]! - pathX[0]! : 0);
}

/**
 * Beside all lines that leave the box, on the side to which none of them turns. Where they turn to both, on that of
 * the edge, which passes behind it then.
 *
 * @param width of the words
 * @param away from the outermost line to the words
 */
export function labelPlace(
  edge: SceneEdge,
  width: number,
  { left, right, turnsLeft, turnsRight }: Leaving,
  away: number,
): LabelPlace {
  const [y0, y1] = [edge.pathY[0], edge.pathY[1]];
  const toBoth = turnsLeft && turnsRight;
  const isLeft = toBoth ? turnOf(edge) < 0 : turnsRight;
  return {
    x: isLeft ? left - away - width : right + away,
    y: y0! + Math.sign(y1! - y0!) * AWAY_PX,
    isOnLine: toBoth,
  };
}
