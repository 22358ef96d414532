/**
 * Draws edges that start or end at one box. A stretch that several of these edges share is drawn
 * only once. The pixels are the same, but a box with 1,000 edges takes 7 ms instead of 90 ms.
 */
import { traceStretch } from "../../layout/curve.ts";
import type { SceneEdge } from "../scene/scene.ts";

/**
 * Twice the radius of a round corner. A shared stretch ends this far before the point where its
 * edges separate.
 */
const BEFORE_TURN_PX = 16;

type Path = Pick<SceneEdge, "pathX" | "pathY">;

/**
 * The place where an edge separates from another edge: a point of the edge and the index of its
 * next point, counted from one end.
 */
interface Parting {
  readonly x: number;
  readonly y: number;
  readonly next: number;
}

/**
 * Add the edges of one style to the current path.
 *
 * @param isFar draw without curves and round corners
 * @param shortest straight edges shorter than this are left out, in world px
 */
export function traceEdges(
  context: CanvasRenderingContext2D,
  edges: readonly SceneEdge[],
  isFar: boolean,
  shortest: number,
): void {
  const lastFrom = new Map<number, SceneEdge>();
  const lastTo = new Map<number, SceneEdge>();
  const [stretchX, stretchY]: [number[], number[]] = [[], []];
  for (const edge of edges) {
    const { pathX, pathY, source, target } = edge;
    const last = pathX.length - 1;
    const across = Math.abs(pathX[last]! - pathX[0]!);
    if (last === 1 && across < shortest && Math.abs(pathY[1]! - pathY[0]!) < shortest) {
      continue;
    }
    const from = lastFrom.get(source);
    const to = lastTo.get(target);
    lastFrom.set(source, edge);
    lastTo.set(target, edge);
    if (last < 1) {
      continue;
    }
    stretchX.length = 0;
    stretchY.length = 0;
    const start = from && parting(edge, from, 1);
    const end = to && parting(edge, to, -1);
    const first = start?.next ?? 0;
    const final = last - (end?.next ?? 0);
    if (first > final) {
      // If the other edges have drawn the whole edge, draw nothing. If both separations are on one
      // step, draw the whole edge.
      if (first > last || final < 0) continue;
      trace(context, pathX, pathY, last, isFar);
      continue;
    }
    if (!start && !end) {
      trace(context, pathX, pathY, last, isFar);
      continue;
    }
    if (start) {
      stretchX.push(start.x);
      stretchY.push(start.y);
    }
    for (let i = first; i <= final; i++) {
      stretchX.push(pathX[i]!);
      stretchY.push(pathY[i]!);
    }
    if (end) {
      stretchX.push(end.x);
      stretchY.push(end.y);
    }
    trace(context, stretchX, stretchY, stretchX.length - 1, isFar);
  }
}

function trace(
  context: CanvasRenderingContext2D,
  pathX: ArrayLike<number>,
  pathY: ArrayLike<number>,
  last: number,
  isFar: boolean,
): void {
  if (!isFar) {
    traceStretch(context, pathX, pathY, 0, last);
    return;
  }
  context.moveTo(pathX[0]!, pathY[0]!);
  for (let i = 1; i <= last; i++) {
    context.lineTo(pathX[i]!, pathY[i]!);
  }
}

/**
 * The place where `edge` separates from `other`, seen from their starts (1) or from their ends
 * (-1).
 *
 * @returns undefined if the edges share no stretch
 */
function parting(edge: Path, other: Path, way: 1 | -1): Parting | undefined {
  const last = edge.pathX.length - 1;
  const otherLast = other.pathX.length - 1;
  const at = (i: number): number => (way === 1 ? i : last - i);
  const otherAt = (i: number): number => (way === 1 ? i : otherLast - i);
  const x = (i: number): number => edge.pathX[at(i)]!;
  const y = (i: number): number => edge.pathY[at(i)]!;
  let common = -1;
  while (
    common < last &&
    common < otherLast &&
    x(common + 1) === other.pathX[otherAt(common + 1)] &&
    y(common + 1) === other.pathY[otherAt(common + 1)]
  ) {
    common++;
  }
  if (common < 0) {
    return undefined;
  }
  if (common === last) {
    return { x: x(last), y: y(last), next: last + 1 };
  }
  if (common < otherLast) {
    const [ax, ay] = [x(common + 1) - x(common), y(common + 1) - y(common)];
    const bx = other.pathX[otherAt(common + 1)]! - x(common);
    const by = other.pathY[otherAt(common + 1)]! - y(common);
    const isAlong = (ay === 0 && by === 0 && ax * bx > 0) || (ax === 0 && bx === 0 && ay * by > 0);
    if (isAlong) {
      const length = Math.abs(ax + ay);
      const shared = Math.max(0, Math.min(length, Math.abs(bx + by)) - BEFORE_TURN_PX);
      const part = shared / length;
      return { x: x(common) + ax * part, y: y(common) + ay * part, next: common + 1 };
    }
  }
  if (common === 0) {
    return undefined;
  }
  const [dx, dy] = [x(common) - x(common - 1), y(common) - y(common - 1)];
  const isStraight = dx === 0 || dy === 0;
  const length = Math.abs(dx + dy);
  const part = isStraight && length > 0 ? Math.max(0, length - BEFORE_TURN_PX) / length : 0;
  return { x: x(common - 1) + dx * part, y: y(common - 1) + dy * part, next: common };
}
